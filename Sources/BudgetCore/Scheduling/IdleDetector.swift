/// How busy the machine is, as its kernel counts it.
package struct LoadSample: Equatable, Sendable {
    /// In how much of the last 10 s somebody waited for a processor, in percent; `nil` where it is not counted.
    package var cpuPressure: Double?
    /// The same for I/O.
    package var ioPressure: Double?
    /// Tasks that ran or waited, averaged over a minute.
    package var loadAverage: Double
    /// Processors that are online, 1 or more.
    package var processors: Int

    package init(
        cpuPressure: Double?, ioPressure: Double?, loadAverage: Double, processors: Int
    ) {
        self.cpuPressure = cpuPressure
        self.ioPressure = ioPressure
        self.loadAverage = loadAverage
        self.processors = processors
    }
}

/// Decides whether the machine has little else to do, for tasks that wait for that (rule 24 in docs/architecture.md).
///
/// It becomes idle when every figure is below its low mark, and stops being idle when one is above its high
/// mark; between them it stays what it was. It is not idle before the first sample.
///
/// A task of ours that runs must not keep the others back by itself. Pressure sees only those who wait, and
/// whoever works alone makes nobody wait for a processor. Of the load one task is left out
/// (``loadPerProcessor(_:)``), whoever's it is: the kernel does not say. What a task of ours makes others
/// wait for the disk is counted, and ends with its budget. Since the kernel's figures are averages over 10 s
/// and 60 s, and a start is decided by them alone, tasks that together are too much start once and not again
/// before the figures have fallen.
package struct IdleDetector: Sendable {
    package private(set) var isIdle = false
    /// What the last sample said, as a sentence; `nil` before the first.
    package private(set) var reading: String?

    /// Below `low` it becomes idle, above `high` it stops being so.
    package struct Marks: Equatable, Sendable {
        package let low: Double
        package let high: Double
    }

    /// Of CPU and of I/O pressure, in percent of the last 10 s. At a tenth somebody waits now and then,
    /// as with one task beside a desktop; at a quarter a person would notice.
    package static let pressureMarks = Marks(low: 10, high: 25)
    /// Of ``loadPerProcessor(_:)``: a quarter and a half of the machine.
    package static let loadMarks = Marks(low: 0.25, high: 0.5)
    /// How often a sample is of use: the kernel counts the load average anew as often.
    package static let samplingInterval = Duration.seconds(5)

    package init() {}

    /// The load average without one task, for each processor.
    ///
    /// On one processor 0.25 is reached at a load of 1.25, on two at 1.5, on eight at 3.
    package static func loadPerProcessor(_ sample: LoadSample) -> Double {
        max(sample.loadAverage - 1, 0) / Double(max(sample.processors, 1))
    }

    /// Takes a new sample into account.
    package mutating func judge(_ sample: LoadSample) {
        let figures = Figure.all(of: sample)
        let isIdle = isIdle
        let hindering = figures.first {
            isIdle ? $0.value > $0.marks.high : !($0.value < $0.marks.low)
        }
        self.isIdle = hindering == nil
        reading =
            if let hindering {
                hindering.sentence
            } else {
                "the machine is idle: \(figures.map(\.text).joined(separator: ", "))"
            }
    }

    private struct Figure {
        let name: String
        let value: Double
        let unit: String
        let marks: Marks

        static func all(of sample: LoadSample) -> [Figure] {
            func pressure(_ name: String, _ value: Double?) -> Figure? {
                value.map { Figure(name: name, value: $0, unit: " %", marks: pressureMarks) }
            }
            let load = Figure(
                name: "load per processor (one task left out)", value: loadPerProcessor(sample),
                unit: "", marks: loadMarks)
            return [
                pressure("CPU pressure", sample.cpuPressure),
                pressure("I/O pressure", sample.ioPressure), load,
            ].compactMap(\.self)
        }

        var text: String { "\(name) \(shown(value))\(unit)" }

        var sentence: String {
            value > marks.high
                ? "\(text) is above \(shown(marks.high))\(unit)"
                : "\(text) is not below \(shown(marks.low))\(unit)"
        }

        /// With two digits after the point at most.
        private func shown(_ value: Double) -> String {
            // What is no number is above no mark and below none.
            guard value.isFinite, value.magnitude < 1e12 else { return "\(value)" }
            let hundredths = Int((value * 100).rounded())
            let fraction = hundredths % 100
            guard fraction != 0 else { return "\(hundredths / 100)" }
            let digits =
                fraction % 10 == 0 ? "\(fraction / 10)" : (fraction < 10 ? "0" : "") + "\(fraction)"
            return "\(hundredths / 100).\(digits)"
        }
    }
}
