/// The arrows of DESIGN.md, section 5: what each module may import. They never turn back.
enum ImportTable {
    private static let collections: Set<String> = [
        "Collections", "DequeModule", "HeapModule", "OrderedCollections", "HashTreeCollections",
        "BitCollections", "BasicContainers",
    ]

    /// The operating system's own; no arrow, but nothing for modules that are pure.
    private static let system: Set<String> = ["Glibc", "Synchronization", "SystemPackage"]

    static let allowed: [String: Set<String>] = [
        "Containers": [],
        "BudgetCore": collections.union(["Containers"]),
        "JSON": ["Glibc"],
        "Varlink": ["Glibc", "JSON"],
        "TaskAPI": ["JSON", "Varlink"],
        "Settings": ["TOMLKit", "Glibc", "SystemPackage"],
        "CLinux": [],
        "LinuxSystem": system.union(["CLinux"]),
        "CSystemd": [],
        "Systemd": ["CSystemd", "Logging", "Glibc", "Synchronization"],
        "CSQLite": [],
        "TaskStore": system.union(["BudgetCore", "CSQLite", "JSON"]),
        "bgtaskd": system.union(collections).union([
            "BudgetCore", "Containers", "JSON", "Varlink", "TaskAPI", "Settings", "LinuxSystem",
            "Systemd", "TaskStore", "Logging", "ArgumentParser",
        ]),
        "bgtaskctl": system.union([
            "JSON", "TaskAPI", "Varlink", "LinuxSystem", "Settings", "Systemd", "ArgumentParser",
        ]),
        "bgtask-supervisor": ["Glibc"],
        "SmallFoundation": [],
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
