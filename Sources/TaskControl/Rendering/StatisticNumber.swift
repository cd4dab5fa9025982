internal import TaskAPI

/// What has one value among the statistics of the daemon: a counter, or a gauge.
struct StatisticNumber {
    let name: String
    let labels: [String: String]
    let value: String
    let help: String
}

extension Manager.Statistics.Output {
    /// The counters, then the gauges.
    var numbers: [StatisticNumber] {
        let counted = counters.map {
            StatisticNumber(name: $0.name, labels: $0.labels, value: "\($0.value)", help: $0.help)
        }
        let gauged = (gauges ?? []).map {
            StatisticNumber(name: $0.name, labels: $0.labels, value: "\($0.value)", help: $0.help)
        }
        return counted + gauged
    }
}
