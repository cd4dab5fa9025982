import BudgetCore

/// A registry in a place of its own, since it cannot be copied and what is tested with it can.
final class HeldRegistry {
    var registry: BackgroundTaskRegistry

    init(_ registry: consuming BackgroundTaskRegistry) {
        self.registry = registry
    }
}
