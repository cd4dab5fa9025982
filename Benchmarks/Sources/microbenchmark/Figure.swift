/// One figure of what was measured.
///
/// What it is, and what is promised of it, is said in Benchmarks/rows/microbenchmark.py.
struct Figure {
    /// Words with dashes.
    var name: String
    var value: Double
    var unit: String

    /// Prints it as a line, with tabs between.
    func show() {
        print(name, (value * 1000).rounded() / 1000, unit, separator: "\t")
    }

    /// So many of what the unit is, in so many seconds.
    static func rate(_ name: String, _ count: Int, in seconds: Double, _ unit: String) {
        Figure(name: name, value: Double(count) / seconds, unit: "\(unit)/s").show()
    }

    /// How many times what one costs grows from the few to the many.
    static func growth(_ name: String, few: Double, many: Double) {
        Figure(name: "\(name)-growth", value: many / few, unit: "times").show()
    }
}
