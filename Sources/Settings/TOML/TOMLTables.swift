/// Who has defined which table, so that nothing is defined twice.
///
/// One dictionary for all tables: a hostile file can make half a million of them.
struct TOMLTables {
    private var kinds: [Kind] = [.header]
    private var children: [Slot: Child] = [:]

    /// The table that the whole file is.
    static let root = 0

    enum Kind: Equatable {
        /// Named on the way to another one by a header; may still get a header of its own.
        case implicit
        /// Defined by its own header, or an element of an array of tables.
        case header
        /// Made by dotted keys, which only the same section may add to.
        case dotted(section: Int)
        /// Written in braces, and complete with them.
        case inline
    }

    enum Child {
        case value
        case table(Int)
        /// An array of tables, with its newest element.
        case elements(last: Int)
    }

    private struct Slot: Hashable {
        let table: Int
        let key: String
    }

    func child(_ key: String, of table: Int) -> Child? {
        children[Slot(table: table, key: key)]
    }

    func kind(of table: Int) -> Kind {
        kinds[table]
    }

    mutating func define(_ table: Int, as kind: Kind) {
        kinds[table] = kind
    }

    mutating func addValue(_ key: String, to table: Int) {
        children[Slot(table: table, key: key)] = .value
    }

    mutating func addTable(_ key: String, to table: Int, as kind: Kind) -> Int {
        let made = makeTable(as: kind)
        children[Slot(table: table, key: key)] = .table(made)
        return made
    }

    mutating func addElement(_ key: String, to table: Int) -> Int {
        let made = makeTable(as: .header)
        children[Slot(table: table, key: key)] = .elements(last: made)
        return made
    }

    /// A table that no key leads to: an element of an array.
    mutating func makeTable(as kind: Kind) -> Int {
        kinds.append(kind)
        return kinds.count - 1
    }
}
