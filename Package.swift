// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "bgtaskd",
    targets: [
        .target(name: "BudgetCore", swiftSettings: settings),
        .target(name: "Varlink", swiftSettings: settings),
        .target(
            name: "TaskAPI",
            dependencies: ["Varlink"],
            resources: [.embedInCode("interfaces")],
            swiftSettings: settings
        ),
        .target(name: "TestKit", path: "Tests/TestKit", swiftSettings: settings),
        .testTarget(
            name: "BudgetCoreTests",
            dependencies: ["BudgetCore", "TestKit"],
            swiftSettings: settings
        ),
    ]
)
