// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let cSettings: [CSetting] = [
    .define("_GNU_SOURCE"),
    .enableWarning("all"),
    .enableWarning("extra"),
    .treatAllWarnings(as: .error),
]

/// A package of its own: what it measures, it knows by bytes on a socket alone.
/// Sources/microbenchmark is a target of the package above, whose modules no other package sees.
let package = Package(
    name: "bgtaskd-benchmarks",
    products: [
        .executable(name: "load-generator", targets: ["load-generator"]),
        .executable(name: "echo-server", targets: ["echo-server"]),
        .executable(name: "spawn-loop", targets: ["spawn-loop"]),
        .executable(name: "task-driver", targets: ["task-driver"]),
    ],
    targets: [
        .systemLibrary(name: "CEpoll"),
        .target(
            name: "BenchmarkSockets", dependencies: ["CEpoll"], swiftSettings: swiftSettings),
        .executableTarget(
            name: "load-generator",
            dependencies: ["BenchmarkSockets"],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "echo-server",
            dependencies: ["BenchmarkSockets"],
            swiftSettings: swiftSettings
        ),
        .executableTarget(name: "spawn-loop", cSettings: cSettings),
        .executableTarget(name: "task-driver", cSettings: cSettings),
        .testTarget(
            name: "LoadGeneratorTests",
            dependencies: ["BenchmarkSockets", "load-generator"],
            swiftSettings: swiftSettings
        ),
    ]
)
