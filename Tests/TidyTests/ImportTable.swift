/// The arrows of docs/architecture.md: what each module may import. They never turn back.
enum ImportTable {
    /// Every one of them is used; see TidyTests.
    static let allowed: [String: Set<String>] = [
        "Containers": [],
        "BudgetCore": ["Containers"],
        "JSON": ["Glibc"],
        "Varlink": ["Glibc", "JSON"],
        "TaskAPI": ["JSON", "Varlink"],
        "BackgroundTime": ["Glibc", "JSON", "Synchronization", "TaskAPI", "Varlink"],
        "BackgroundTimeLifecycle": [
            "BackgroundTime", "Glibc", "ServiceLifecycle", "Synchronization",
        ],
        "BackgroundTasksKit": [
            "BackgroundTime", "Dispatch", "Foundation", "Glibc", "JSON", "Synchronization",
            "TaskAPI", "Varlink",
        ],
        "Settings": ["Glibc"],
        "CLinux": [],
        "LinuxSystem": ["CExecutor", "CLinux", "Glibc"],
        "CSystemd": [],
        "Systemd": ["CSystemd", "Logging", "Glibc", "Synchronization"],
        "CSQLite": [],
        "TaskStore": ["BudgetCore", "CSQLite", "Glibc", "JSON"],
        "DaemonShell": [
            "BudgetCore", "Containers", "JSON", "Varlink", "TaskAPI", "Settings", "LinuxSystem",
            "Systemd", "TaskStore", "Logging", "Glibc",
        ],
        "bgtaskd": [
            "DaemonShell", "TaskAPI", "Settings", "LinuxSystem", "Systemd", "Logging", "Glibc",
        ],
        "CNcurses": [],
        "TaskControl": [
            "CNcurses", "JSON", "TaskAPI", "Varlink", "LinuxSystem", "Settings", "Systemd",
            "ArgumentParser",
            "Glibc",
        ],
        "bgtaskctl": ["TaskControl"],
        "CExecutor": [],
        "bgtask-executor": [],
        "CEpoll": [],
        "BenchmarkSockets": ["CEpoll", "Glibc"],
        "load-generator": ["BenchmarkSockets", "Glibc"],
        "echo-server": ["BenchmarkSockets", "Glibc"],
        "spawn-loop": [],
        "task-driver": [],
        "microbenchmark": ["BudgetCore", "TaskAPI", "Varlink", "Glibc"],
    ]

    /// The module that a line of code imports; `nil` for any other line.
    static func imported(by line: String) -> String? {
        let words = line.split(whereSeparator: \.isWhitespace)
        guard let index = words.firstIndex(of: "import"),
            words[..<index].allSatisfy({ modifiers.contains(String($0)) || $0.hasPrefix("@") })
        else { return nil }
        let kinds: Set<Substring> = [
            "struct", "class", "enum", "protocol", "typealias", "func", "let", "var",
        ]
        let name = words[(index + 1)...].first { !kinds.contains($0) }
        return name?.split(separator: ".").first.map(String.init)
    }

    private static let modifiers: Set<String> = [
        "public", "package", "internal", "fileprivate", "private",
    ]
}
