package import TaskAPI

/// The counts of the daemon as monitoring systems read them.
package struct MetricsText {
    package enum Format {
        /// OpenMetrics 1.0, as Prometheus scrapes it.
        case openMetrics
        /// The text format of Prometheus, which is what the textfile collector of node_exporter reads.
        case prometheus
    }

    let format: Format

    package init(format: Format) {
        self.format = format
    }

    /// What there is of a daemon that has answered.
    package func text(_ statistics: Manager.Statistics.Output) -> String {
        text([Self.isUp(true)] + statistics.numbers, statistics.histograms ?? [])
    }

    /// What there is of a daemon that has not answered, in the place of what it said before.
    var textWithoutDaemon: String { text([Self.isUp(false)], []) }

    private static func isUp(_ isUp: Bool) -> StatisticNumber {
        StatisticNumber(
            name: "bgtaskd_up", labels: [:], value: isUp ? "1" : "0",
            help: "Whether the daemon has answered.")
    }

    private func text(_ numbers: [StatisticNumber], _ histograms: [Manager.Histogram]) -> String {
        var text = ""
        for family in grouped(numbers, by: \.name) {
            guard let first = family.first else { continue }
            text += head(first.name, first.help, type(of: first.name))
            for number in family { text += sample(number.name, number.labels, number.value) }
        }
        for family in grouped(histograms, by: \.name) {
            guard let first = family.first else { continue }
            text += head(first.name, first.help, .histogram)
            for histogram in family { text += samples(histogram) }
        }
        return format == .openMetrics ? text + "# EOF\n" : text
    }

    /// Those of one name together, in the order in which the names come first.
    private func grouped<Element>(
        _ elements: [Element], by name: (Element) -> String
    ) -> [[Element]] {
        var places: [String: Int] = [:]
        var groups: [[Element]] = []
        for element in elements {
            if let place = places[name(element)] {
                groups[place].append(element)
            } else {
                places[name(element)] = groups.count
                groups.append([element])
            }
        }
        return groups
    }

    // MARK: - A family

    private enum Kind: String {
        case counter, gauge, histogram, info
    }

    private func type(of name: String) -> Kind {
        if name.hasSuffix("_total") { return .counter }
        return format == .openMetrics && name.hasSuffix("_info") ? .info : .gauge
    }

    private func head(_ name: String, _ help: String, _ kind: Kind) -> String {
        var family = Self.name(name)
        if format == .openMetrics {
            // The samples have the ending, and the family has not.
            if kind == .counter { family = String(family.dropLast("_total".count)) }
            if kind == .info { family = String(family.dropLast("_info".count)) }
        }
        var lines = "# HELP \(family) \(escaped(help, quotes: format == .openMetrics))\n"
        lines += "# TYPE \(family) \(kind.rawValue)\n"
        if format == .openMetrics,
            let unit = ["seconds", "bytes", "ratio"].first(where: { family.hasSuffix("_" + $0) })
        {
            lines += "# UNIT \(family) \(unit)\n"
        }
        return lines
    }

    // MARK: - A sample

    private func samples(_ histogram: Manager.Histogram) -> String {
        let name = histogram.name
        var text = ""
        var count = 0
        for (place, number) in histogram.counts.enumerated() {
            count = Self.sum(count, number)
            let bound = place < histogram.boundsNs.count ? bound(histogram.boundsNs[place]) : "+Inf"
            text += sample(name + "_bucket", histogram.labels, "\(count)", ("le", bound))
        }
        return text + sample(name + "_sum", histogram.labels, Self.seconds(histogram.sumNs))
            + sample(name + "_count", histogram.labels, "\(count)")
    }

    private static func sum(_ one: Int, _ other: Int) -> Int {
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    /// - Parameter last: a label that comes behind the others.
    private func sample(
        _ name: String, _ labels: [String: String], _ value: String,
        _ last: (key: String, value: String)? = nil
    ) -> String {
        var pairs = labels.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) }
        if let last { pairs.append(last) }
        let text = pairs.map { "\(Self.name($0.key))=\"\(escaped($0.value, quotes: true))\"" }
        let set = text.isEmpty ? "" : "{\(text.joined(separator: ","))}"
        return "\(Self.name(name))\(set) \(value)\n"
    }

    /// A name as these formats have them, whatever it was.
    private static func name(_ name: String) -> String {
        let text = name.unicodeScalars.map { scalar in
            let isGood =
                scalar.isASCII
                && (scalar.properties.isAlphabetic || scalar == "_"
                    || ("0"..."9").contains(scalar))
            return isGood ? Character(scalar) : "_"
        }
        guard let first = text.first, !first.isNumber else { return "_" + String(text) }
        return String(text)
    }

    private func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// OpenMetrics wants whole bounds with a fraction too.
    private func bound(_ nanoseconds: Int) -> String {
        let text = Self.seconds(nanoseconds)
        return format == .openMetrics && !text.contains(".") ? text + ".0" : text
    }

    /// Nanoseconds as seconds, exactly.
    package static func seconds(_ nanoseconds: Int) -> String {
        let (whole, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
        var digits = String(rest)
        digits = String(repeating: "0", count: 9 - digits.utf8.count) + digits
        while digits.last == "0" { digits.removeLast() }
        let sign = nanoseconds < 0 ? "-" : ""
        return digits.isEmpty ? "\(sign)\(whole)" : "\(sign)\(whole).\(digits)"
    }
}
