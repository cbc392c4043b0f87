import Foundation

/// Sections and their items, each of which occurs once: the content of both kinds of snapshot.
struct SnapshotContent<Section: Hashable, Item: Hashable> {
    private(set) var sections: [Section] = []
    /// Of each section, in the order of `sections`.
    private(set) var items: [[Item]] = []
    private var homes: [Item: Section] = [:]
    private var indexes: [Section: Int] = [:]
    private(set) var reloadedSections: [Section] = []
    private(set) var reloadedItems: [Item] = []
    private(set) var reconfiguredItems: [Item] = []

    init() {}

    init(_ contents: [(section: Section, items: [Item])], reloaded: [Item] = []) {
        appendSections(contents.map(\.section))
        for (section, items) in contents { insert(items, in: section, at: nil) }
        reloadedItems = reloaded
    }

    /// The same with other identifiers.
    func map<S: Hashable, I: Hashable>(_ section: (Section) -> S, _ item: (Item) -> I) -> SnapshotContent<S, I> {
        var mapped = SnapshotContent<S, I>(zip(sections, items).map { (section($0), $1.map(item)) })
        mapped.reloadedSections = reloadedSections.map(section)
        mapped.reloadedItems = reloadedItems.map(item)
        mapped.reconfiguredItems = reconfiguredItems.map(item)
        return mapped
    }

    // MARK: What there is

    var itemCount: Int { homes.count }
    var allItems: [Item] { items.flatMap { $0 } }
    func sectionIndex(of section: Section) -> Int? { indexes[section] }
    func section(of item: Item) -> Section? { homes[item] }

    func items(of section: Section) -> [Item] { items[place(of: section)] }

    func itemIndex(of item: Item) -> Int? {
        guard let place = homes[item].flatMap({ indexes[$0] }), let inside = items[place].firstIndex(of: item) else {
            return nil
        }
        return items[..<place].reduce(inside) { $0 + $1.count }
    }

    private func place(of section: Section) -> Int {
        guard let index = indexes[section] else { preconditionFailure("The snapshot has no section '\(section)'.") }
        return index
    }

    private func place(of item: Item) -> (section: Int, index: Int) {
        guard let section = homes[item].flatMap({ indexes[$0] }), let index = items[section].firstIndex(of: item) else {
            preconditionFailure("The snapshot has no item '\(item)'.")
        }
        return (section, index)
    }

    // MARK: Items

    /// Adds items at the end of a section, of the last one for `nil`.
    mutating func append(_ new: [Item], to section: Section?) {
        guard let section = section ?? sections.last else {
            preconditionFailure("Append a section first: items are in sections.")
        }
        insert(new, in: section, at: nil)
    }

    mutating func insert(_ new: [Item], beside item: Item, after: Bool) {
        let place = place(of: item)
        insert(new, in: sections[place.section], at: place.index + (after ? 1 : 0))
    }

    private mutating func insert(_ new: [Item], in section: Section, at index: Int?) {
        let place = place(of: section)
        for item in new {
            precondition(
                homes.updateValue(section, forKey: item) == nil,
                "Item identifiers are not unique: '\(item)' is in the snapshot already.")
        }
        items[place].insert(contentsOf: new, at: index ?? items[place].count)
    }

    /// Removes the items that exist.
    mutating func delete(_ gone: [Item]) {
        let gone = Set(gone.filter { homes[$0] != nil })
        let touched = Set(gone.compactMap { homes[$0] })
        for section in touched { items[place(of: section)].removeAll { gone.contains($0) } }
        for item in gone { homes[item] = nil }
        forgetMarks { gone.contains($0) }
    }

    private mutating func forgetMarks(_ isGone: (Item) -> Bool) {
        reloadedItems.removeAll(where: isGone)
        reconfiguredItems.removeAll(where: isGone)
    }

    /// Takes out every item; the sections go with them.
    mutating func deleteAll() { self = SnapshotContent() }

    mutating func move(_ item: Item, beside other: Item, after: Bool) {
        precondition(item != other, "An item cannot be moved beside itself.")
        let old = place(of: item)
        items[old.section].remove(at: old.index)
        let new = place(of: other)
        items[new.section].insert(item, at: new.index + (after ? 1 : 0))
        homes[item] = sections[new.section]
    }

    mutating func reload(_ changed: [Item]) { Self.mark(changed, among: homes, in: &reloadedItems) }
    mutating func reconfigure(_ changed: [Item]) { Self.mark(changed, among: homes, in: &reconfiguredItems) }

    private static func mark<Value>(_ changed: [Item], among homes: [Item: Value], in marks: inout [Item]) {
        var known = Set(marks)
        for item in changed {
            precondition(homes[item] != nil, "The snapshot has no item '\(item)'.")
            if known.insert(item).inserted { marks.append(item) }
        }
    }

    // MARK: Sections

    mutating func appendSections(_ new: [Section]) { insertSections(new, at: sections.count) }

    mutating func insertSections(_ new: [Section], beside section: Section, after: Bool) {
        insertSections(new, at: place(of: section) + (after ? 1 : 0))
    }

    private mutating func insertSections(_ new: [Section], at index: Int) {
        for section in new {
            precondition(
                indexes.updateValue(index, forKey: section) == nil,
                "Section identifiers are not unique: '\(section)' is in the snapshot already.")
        }
        sections.insert(contentsOf: new, at: index)
        items.insert(contentsOf: new.map { _ in [] }, at: index)
        renumber(from: index)
    }

    /// Removes the sections that exist, with their items.
    mutating func deleteSections(_ gone: [Section]) {
        for section in gone {
            guard let place = indexes.removeValue(forKey: section) else { continue }
            sections.remove(at: place)
            let items = Set(items.remove(at: place))
            for item in items { homes[item] = nil }
            forgetMarks { items.contains($0) }
            reloadedSections.removeAll { $0 == section }
            renumber(from: place)
        }
    }

    mutating func moveSection(_ section: Section, beside other: Section, after: Bool) {
        precondition(section != other, "A section cannot be moved beside itself.")
        let old = place(of: section)
        sections.remove(at: old)
        let moved = items.remove(at: old)
        renumber(from: old)
        let new = place(of: other) + (after ? 1 : 0)
        sections.insert(section, at: new)
        items.insert(moved, at: new)
        renumber(from: min(old, new))
    }

    mutating func reloadSections(_ changed: [Section]) {
        for section in changed {
            _ = place(of: section)
            if !reloadedSections.contains(section) { reloadedSections.append(section) }
        }
    }

    private mutating func renumber(from start: Int) {
        for index in start..<sections.count { indexes[sections[index]] = index }
    }
}

extension SnapshotContent: Sendable where Section: Sendable, Item: Sendable {}
