/// Something is not as it was when this was written, so what would be measured is something else.
enum Surprise: Error {
    case noBudget
    case noStatistics
    case noCall
    case noTask
    case unknownMethod(String)
    case notAnswered
    case notRunning
    case notFired
    case notStopped
}
