// swift-tools-version: 6.2
import PackageDescription

/// Where BGTASKD_STRICT is set, as CI does, a warning is an error; a later compiler's new warnings keep nobody else
/// from building.
let isStrict = Context.environment["BGTASKD_STRICT"] != nil

let swiftSettings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

/// Of a target that waits for others and does not compute: not optimised, which takes half as long to build.
let waitingSettings: [SwiftSetting] =
    swiftSettings + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

let cSettings: [CSetting] =
    [
        .define("_GNU_SOURCE"),
        .enableWarning("all"),
        .enableWarning("extra"),
    ] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

/// Whether the tests are built with a sanitizer (`make sanitize`), whose run-time library is shared.
let isSanitized = Context.environment["BGTASK_SANITIZED"] != nil

/// There is one executor, which shares the C library with all others and needs nothing else: each library that is
/// mapped makes a fork slower. "Embedded" is how the Swift driver is told to link no runtime, nor what that needs.
let executorLinkerSettings: [LinkerSetting] =
    isSanitized
    ? []
    : [
        .unsafeFlags([
            "-nostartfiles", "-no-static-stdlib", "-enable-experimental-feature", "Embedded",
            "-Xlinker", "--gc-sections", "-Xlinker", "-z", "-Xlinker", "relro",
            "-Xlinker", "-z", "-Xlinker", "now",
        ])
    ]

/// The programs have the Swift runtime inside. It is said here and not by --static-swift-stdlib, which compiles
/// everything anew and leaves no tests: there is no static Testing library. So what ships and its tests are compiled
/// once. A test imports libraries alone: what it imports of a program would be linked with these settings.
///
/// What is installed keeps its 47,000 relocations as a bit map, and not in 24 bytes each: a megabyte less. It needs
/// a C library of 2.36 or later, as Debian 12 has, and a linker that knows it. What others could look up in a program
/// is left out, since nobody does: what the Swift compiler would have exported, used or not, is a twentieth of it.
/// The two libraries are what Foundation's part in ArgumentParser needs where it is static.
let programLinkerSettings: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-static-stdlib", "-l_FoundationCollections", "-l_FoundationCShims",
            "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
            "-Xlinker", "--no-export-dynamic",
        ],
        .when(configuration: .release))
]

/// What the programs alone use is left out where a package depends on the libraries with `traits: []`.
let logging = Target.Dependency.product(
    name: "Logging", package: "swift-log", condition: .when(traits: ["Daemon"]))
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Daemon"]))
let serviceLifecycle = Target.Dependency.product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle",
    condition: .when(traits: ["ServiceLifecycle"]))

let package = Package(
    name: "bgtaskd",
    products: [
        .executable(name: "bgtaskd", targets: ["bgtaskd"]),
        .executable(name: "bgtaskctl", targets: ["bgtaskctl"]),
        .executable(name: "bgtask-executor", targets: ["bgtask-executor"]),
        .library(name: "BackgroundTime", targets: ["BackgroundTime"]),
        .library(name: "BackgroundTasksKit", targets: ["BackgroundTasksKit"]),
        .library(name: "BackgroundTimeLifecycle", targets: ["BackgroundTimeLifecycle"]),
    ],
    traits: [
        .default(enabledTraits: ["Daemon"]),
        .trait(name: "Daemon", description: "The programs: bgtaskd and bgtaskctl."),
        .trait(
            name: "ServiceLifecycle",
            description: "What BackgroundTimeLifecycle has for swift-service-lifecycle."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(name: "Containers", swiftSettings: swiftSettings),
        .target(
            name: "BudgetCore", dependencies: ["Containers"], swiftSettings: swiftSettings),
        .target(name: "JSON", swiftSettings: swiftSettings),
        .target(name: "Varlink", dependencies: ["JSON"], swiftSettings: swiftSettings),
        .target(
            name: "TaskAPI",
            dependencies: ["JSON", "Varlink"],
            resources: [.embedInCode("interfaces")],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "BackgroundTime", dependencies: ["JSON", "TaskAPI", "Varlink"],
            swiftSettings: swiftSettings),
        .target(
            name: "BackgroundTimeLifecycle", dependencies: ["BackgroundTime", serviceLifecycle],
            swiftSettings: swiftSettings),
        .target(
            name: "BackgroundTasksKit",
            dependencies: ["BackgroundTime", "JSON", "TaskAPI", "Varlink"],
            swiftSettings: swiftSettings),
        .target(name: "Settings", swiftSettings: swiftSettings),
        .target(name: "CLinux", cSettings: cSettings),
        .target(name: "CExecutor", dependencies: ["CLinux"], cSettings: cSettings),
        .target(
            name: "LinuxSystem", dependencies: ["CExecutor", "CLinux"],
            swiftSettings: swiftSettings),
        .systemLibrary(
            name: "CSystemd",
            pkgConfig: "libsystemd",
            providers: [.apt(["libsystemd-dev"])]
        ),
        .target(
            name: "Systemd",
            dependencies: ["CSystemd", logging],
            swiftSettings: swiftSettings
        ),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        .target(
            name: "TaskStore",
            dependencies: ["BudgetCore", "CSQLite", "JSON"],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "bgtask-executor",
            dependencies: ["CExecutor", "CLinux"],
            cSettings: cSettings,
            linkerSettings: executorLinkerSettings
        ),
        .target(
            name: "DaemonShell",
            dependencies: [
                "BudgetCore", "Containers", "JSON", "LinuxSystem", "Settings", "Systemd",
                "TaskAPI", "TaskStore", "Varlink", logging,
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "bgtaskd",
            dependencies: [
                "DaemonShell", "LinuxSystem", "Settings", "Systemd", "TaskAPI", logging,
            ],
            swiftSettings: swiftSettings,
            linkerSettings: programLinkerSettings
        ),
        // Without pkgConfig: of what that says of ncursesw SwiftPM takes no definitions, and warns.
        .systemLibrary(name: "CNcurses", providers: [.apt(["libncurses-dev"])]),
        .target(
            name: "TaskControl",
            dependencies: [
                "CNcurses", "JSON", "LinuxSystem", "Settings", "Systemd", "TaskAPI", "Varlink",
                argumentParser,
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "bgtaskctl",
            dependencies: ["TaskControl"],
            swiftSettings: swiftSettings,
            linkerSettings: programLinkerSettings
        ),
        .executableTarget(
            name: "hold-example",
            dependencies: ["BackgroundTime"],
            path: "Examples/HoldExample",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "upload-example",
            dependencies: ["BackgroundTasksKit"],
            path: "Examples/UploadExample",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "countdown-example",
            dependencies: ["BackgroundTasksKit"],
            path: "Examples/CountdownExample",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "poller-example",
            dependencies: ["BackgroundTasksKit"],
            path: "Examples/PollerExample",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "badge-example",
            dependencies: ["BackgroundTasksKit"],
            path: "Examples/BadgeExample",
            swiftSettings: swiftSettings
        ),
        .target(name: "TestKit", path: "Tests/TestKit", swiftSettings: swiftSettings),
        .testTarget(
            name: "ContainersTests",
            dependencies: ["Containers", "TestKit"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "BudgetCoreTests",
            dependencies: ["BudgetCore", "Containers", "TestKit"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CrashTests",
            dependencies: [
                "BudgetCore", "CFaultyVFS", "DaemonShell", "Settings", "TaskStore", "TestKit",
                logging,
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "SettingsTests", dependencies: ["Settings", "TestKit"],
            swiftSettings: waitingSettings),
        .testTarget(
            name: "bgtaskctlTests",
            dependencies: [
                "JSON", "LinuxSystem", "Systemd", "TaskAPI", "TestKit", "Varlink", "TaskControl",
            ],
            swiftSettings: waitingSettings
        ),
        .executableTarget(
            name: "certification-peer",
            dependencies: ["JSON", "Varlink"],
            path: "Tests/CertificationPeer",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "JSONTests",
            dependencies: ["JSON", "TestKit"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "VarlinkTests",
            dependencies: ["JSON", "TestKit", "Varlink", "certification-peer"],
            swiftSettings: waitingSettings
        ),
        .executableTarget(
            name: "background-time-check",
            dependencies: ["BackgroundTime"],
            path: "Tests/Helpers/background-time-check",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "background-tasks-check",
            dependencies: ["BackgroundTasksKit"],
            path: "Tests/Helpers/background-tasks-check",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "task-scheduler-check",
            dependencies: ["BackgroundTime"],
            path: "Tests/Helpers/task-scheduler-check",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "process-test-child",
            path: "Tests/Helpers/process-test-child",
            cSettings: cSettings
        ),
        .executableTarget(
            name: "silent-file-system",
            path: "Tests/Helpers/silent-file-system",
            cSettings: cSettings
        ),
        .executableTarget(
            name: "process-test-daemon",
            dependencies: ["LinuxSystem"],
            path: "Tests/Helpers/process-test-daemon",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "LinuxSystemTests",
            dependencies: [
                "CExecutor", "CLinux", "CTestUsers", "LinuxSystem", "TestKit",
                "process-test-child", "process-test-daemon", "silent-file-system",
            ],
            swiftSettings: waitingSettings
        ),
        .executableTarget(
            name: "systemd-probe",
            dependencies: ["Systemd"],
            path: "Tests/SystemdProbe",
            swiftSettings: swiftSettings,
            linkerSettings: programLinkerSettings
        ),
        .testTarget(
            name: "SystemdTests",
            dependencies: ["CSystemd", "Systemd", logging],
            swiftSettings: waitingSettings
        ),
        // The tests below start the programs and do not depend on them: all are built with the tests, and a program
        // that is linked anew, as it ships, has none of them compiled anew.
        .testTarget(
            name: "SystemTests",
            dependencies: ["TestKit", "call-fuzzer", "process-test-child", "silent-file-system"],
            path: "Tests/System",
            exclude: [
                "bounded-test", "clients_page.py", "debian-root", "fuzz-live", "own-box",
                "own-group", "package-moves", "systemd-box",
                "torture", "torture-vm",
                "torture_check.py",
                "torture_load.py",
                "test-times", "timed",
                "vm", "vm-box", "vm-prepare",
            ],
            swiftSettings: waitingSettings
        ),
        .testTarget(
            name: "TaskAPITests",
            dependencies: ["JSON", "TaskAPI", "Varlink"],
            swiftSettings: waitingSettings
        ),
        .target(
            name: "CTestUsers",
            path: "Tests/Helpers/CTestUsers",
            cSettings: cSettings
        ),
        .target(
            name: "CFaultyVFS",
            dependencies: ["CSQLite"],
            path: "Tests/Helpers/CFaultyVFS",
            cSettings: cSettings
        ),
        .testTarget(
            name: "TaskStoreTests",
            dependencies: ["BudgetCore", "CFaultyVFS", "CSQLite", "TaskStore", "TestKit"],
            swiftSettings: waitingSettings
        ),
        .testTarget(
            name: "DaemonShellTests",
            dependencies: [
                "BudgetCore", "DaemonShell", "LinuxSystem", "Settings", "Systemd", "TaskAPI",
                "TaskStore", "TestKit", "Varlink", logging,
            ],
            swiftSettings: waitingSettings
        ),
        .testTarget(
            name: "DaemonTests",
            dependencies: [
                "BudgetCore", "CTestUsers", "CallFuzz", "DaemonShell", "JSON", "LinuxSystem",
                "TaskAPI", "TaskStore", "TestKit", "Varlink",
                "background-tasks-check", "process-test-child",
            ],
            swiftSettings: waitingSettings
        ),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "TaskAPI", "TestKit", "Varlink", "background-tasks-check",
                "background-time-check", "badge-example",
                "countdown-example", "hold-example", "poller-example", "task-scheduler-check",
                "upload-example",
            ],
            swiftSettings: waitingSettings
        ),
        .testTarget(
            name: "ManualPageTests",
            dependencies: ["Settings", "TestKit"],
            swiftSettings: waitingSettings
        ),
        .testTarget(name: "TidyTests", swiftSettings: swiftSettings),
        .target(
            name: "CallFuzz",
            dependencies: ["JSON", "TaskAPI", "TestKit", "Varlink"],
            path: "Tests/CallFuzz",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "call-fuzzer",
            dependencies: ["CallFuzz"],
            path: "Tests/CallFuzzer",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "BudgetCore", "CallFuzz", "JSON", "Settings", "TaskAPI", "TaskStore", "Varlink",
            ],
            path: "Tests/FuzzTargets",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "BudgetCore", "CallFuzz", "FuzzTargets", "TaskAPI", "TestKit", "Varlink",
            ],
            exclude: ["Corpus"],
            swiftSettings: swiftSettings
        ),
    ]
)

// `make fuzz` links this library with libFuzzer, which brings a main of its own.
if Context.environment["BGTASKD_FUZZ"] != nil {
    package.targets.append(
        .target(
            name: "FuzzEntry",
            dependencies: ["FuzzTargets"],
            path: "Tests/FuzzEntry",
            swiftSettings: swiftSettings
        ))
    package.products.append(
        .library(name: "FuzzEntry", type: .static, targets: ["FuzzEntry"]))
}

// What `make bench` and `make instruction-counts` measure: the daemon's parts alone, as the daemon has them.
if Context.environment["BGTASKD_MEASURED"] != nil {
    package.targets.append(
        .executableTarget(
            name: "microbenchmark",
            dependencies: ["BudgetCore", "TaskAPI", "Varlink"],
            path: "Benchmarks/Sources/microbenchmark",
            swiftSettings: swiftSettings,
            linkerSettings: programLinkerSettings
        ))
}
