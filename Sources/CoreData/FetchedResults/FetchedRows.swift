import Foundation

/// The results of a controller: objects in order, in sections.
///
/// Rows are stored in chunks, so that inserting or removing a row costs as much as a chunk. An index finds the chunk of
/// each object. It is made when it is first needed: showing unchanged rows needs none.
final class FetchedRows {
    let order: FetchedOrder
    private(set) var sections: [FetchedSection]
    private var chunks: [ObjectIdentifier: FetchedChunk]?
    private var sectionsByName: [String: FetchedSection]?
    private weak var controller: AnyFetchedResultsController?
    /// Whether a section came or lost its last row since sections were last put in order.
    private var hasOtherSections = false

    /// - Parameter sections: names and sizes, in order, which together are as many as the objects.
    init(
        _ objects: [NSManagedObject], sections: [(name: String, count: Int)], order: FetchedOrder,
        controller: AnyFetchedResultsController?
    ) {
        self.order = order
        self.controller = controller
        var start = 0
        self.sections = sections.enumerated().map { index, section in
            let made = FetchedSection(section.name, objects[start..<start + section.count])
            made.index = index
            made.controller = controller
            start += section.count
            return made
        }
    }

    var count: Int { sections.reduce(0) { $0 + $1.count } }
    var objects: [NSManagedObject] { sections.count == 1 ? sections[0].list : sections.flatMap(\.list) }

    /// A copy of the current rows; costs a step for each chunk.
    var contents: [(name: String, chunks: [[NSManagedObject]])] {
        sections.map { ($0.name, $0.chunks.map(\.objects)) }
    }

    // MARK: Places

    func place(of object: NSManagedObject) -> FetchedPlace? {
        index()
        guard let chunk = chunks?[ObjectIdentifier(object)], let item = chunk.section.item(of: object, in: chunk)
        else { return nil }
        return FetchedPlace(section: chunk.section.index, item: item)
    }

    func section(of object: NSManagedObject) -> FetchedSection? {
        index()
        return chunks?[ObjectIdentifier(object)]?.section
    }

    private func index() {
        guard chunks == nil else { return }
        var index: [ObjectIdentifier: FetchedChunk] = [:]
        index.reserveCapacity(count)
        for section in sections {
            for chunk in section.chunks { chunk.objects.forEachHeld { index[ObjectIdentifier($0)] = chunk } }
        }
        chunks = index
    }

    // MARK: Changes

    /// Takes the row out; a section may have none afterwards.
    func remove(_ object: NSManagedObject) {
        guard let chunk = chunks?.removeValue(forKey: ObjectIdentifier(object)) else { return }
        chunk.section.remove(object, from: chunk)
        if chunk.section.count == 0 { hasOtherSections = true }
    }

    /// Puts an object in its place, into a new section perhaps.
    func insert(_ object: NSManagedObject, _ keys: FetchedOrder.Keys) {
        index()
        let section = section(named: order.sectionName(of: object), keys)
        let changed = section.insert(object, by: order, keys)
        // If a chunk was split, the rows of its second half are in another chunk.
        for chunk in changed.dropFirst() { chunk.objects.forEachHeld { chunks?[ObjectIdentifier($0)] = chunk } }
        if changed.count == 1 {
            chunks?[ObjectIdentifier(object)] = changed[0]
        } else if chunks?[ObjectIdentifier(object)] == nil {
            chunks?[ObjectIdentifier(object)] = changed.first
        }
    }

    private func section(named name: String, _ keys: FetchedOrder.Keys) -> FetchedSection {
        if sectionsByName == nil {
            sectionsByName = Dictionary(sections.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        if let known = sectionsByName?[name] {
            guard known.count == 0, order.sectionPath != nil else { return known }
            // The position of the section was unknown to new sections.
            sections.removeAll { $0 === known }
            sections.insert(known, at: indexOfNewSection(keys))
            return known
        }
        hasOtherSections = true
        let made = FetchedSection(name)
        made.index = -1
        made.controller = controller
        sectionsByName?[name] = made
        sections.insert(made, at: indexOfNewSection(keys))
        return made
    }

    private func indexOfNewSection(_ keys: FetchedOrder.Keys) -> Int {
        // Sections that lost their last row just now have nothing to compare with.
        let isFilled = sections.allHeldSatisfy { $0.count > 0 }
        let filled = isFilled ? sections : sections.filter { $0.count > 0 }
        let following = filled.firstIndexOfTail { section in
            section.first.map { order.compare(keys, $0) < 0 } ?? false
        }
        guard !isFilled else { return following }
        guard following < filled.count else { return sections.count }
        return sections.firstIndex { $0 === filled[following] } ?? sections.count
    }

    /// Removes sections without rows, and updates the positions of the others.
    ///
    /// - Returns: whether the order of the sections changed: a section that lost all its rows may have got others,
    ///   which belong elsewhere.
    func finishSections(_ changes: inout FetchedChanges) -> Bool {
        guard order.sectionPath != nil, hasOtherSections else { return false }
        hasOtherSections = false
        for section in sections where section.count == 0 {
            sectionsByName?[section.name] = nil
            // One that came and went in between has never been there.
            if section.index >= 0 { changes.deletedSections.append((section.index, section)) }
        }
        sections.removeAll { $0.count == 0 }
        let former = sections.lazy.map(\.index).filter { $0 >= 0 }
        let isReordered = !zip(former, former.dropFirst()).allSatisfy { $0 < $1 }
        for (index, section) in sections.enumerated() {
            if section.index < 0 { changes.insertedSections.append((index, section)) }
            section.index = index
        }
        return isReordered
    }

    /// Sorts the sections by their rows, if necessary; returns whether the order changed.
    func sortSections() -> Bool {
        let isSorted = zip(sections, sections.dropFirst()).allSatisfy { first, second in
            guard let a = first.last, let b = second.first else { return true }
            return order.compare(order.keys(of: a), b) <= 0
        }
        guard !isSorted else { return false }
        let keyed = sections.map { ($0, $0.first.map(order.keys)) }
        sections =
            keyed.sorted { a, b in
                guard let first = a.1, let second = b.1 else { return false }
                return order.compare(first, second) < 0
            }.map(\.0)
        for (index, section) in sections.enumerated() { section.index = index }
        return true
    }
}
