package import TaskAPI

/// How far a task has come, by its own account.
package enum ProgressText {
    private static let width = 10

    /// `[####......] 42% compressing`; without a total `42 compressing`; `nil` where nothing was reported.
    package static func line(_ task: Tasks.Task) -> String? {
        let parts = [task.progress.map(bar), task.status].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    /// Without a bar: `42% compressing`.
    static func brief(_ task: Tasks.Task) -> String? {
        let parts = [task.progress.map(number), task.status].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    /// `[####......] 42% (21 of 50)`.
    package static func full(_ progress: Tasks.Progress) -> String {
        guard let total = progress.total else { return String(progress.completed) }
        return "\(bar(progress)) (\(progress.completed) of \(total))"
    }

    private static func bar(_ progress: Tasks.Progress) -> String {
        guard let total = progress.total else { return String(progress.completed) }
        let part = part(progress, of: total)
        // Full only where it is.
        let marks = Int(part * Double(width))
        let bar =
            String(repeating: "#", count: marks) + String(repeating: ".", count: width - marks)
        return "[\(bar)] \(number(progress))"
    }

    private static func number(_ progress: Tasks.Progress) -> String {
        guard let total = progress.total else { return String(progress.completed) }
        return "\(Int(part(progress, of: total) * 100))%"
    }

    private static func part(_ progress: Tasks.Progress, of total: Int) -> Double {
        total <= 0 ? 1 : min(max(Double(progress.completed) / Double(total), 0), 1)
    }
}
