/// What delegates of an application are made of.
///
/// It is no `NSObject`, whose initializer belongs to no actor here, so that subclasses on the main actor could not
/// override it.
@preconcurrency @MainActor open class UIResponder {
    /// Makes one. Who overrides it writes `required`.
    public required init() {}
}
