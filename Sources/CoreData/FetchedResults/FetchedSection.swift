import Foundation

/// Rows of a section that follow one another: few enough to be searched from end to end, many enough to be few.
final class FetchedChunk {
    static let capacity = 512

    unowned var section: FetchedSection
    var objects: [NSManagedObject]

    init(_ objects: [NSManagedObject], of section: FetchedSection) {
        self.objects = objects
        self.section = section
    }
}

/// A section and its rows.
///
/// ```
///  section ─┬▶ chunk: up to 512 objects     counts: the number of objects of each chunk, so that a position is
///           ├▶ chunk                        found without reading a chunk
///           └▶ chunk
/// ```
/// It always shows the current rows: after a change, the same section has other rows.
final class FetchedSection: NSFetchedResultsSectionInfo {
    let name: String
    private(set) var chunks: [FetchedChunk] = []
    private var counts: [Int] = []
    private(set) var count = 0
    /// The section's position, as of the last change of sections.
    var index = 0
    weak var controller: AnyFetchedResultsController?
    private var listed: [NSManagedObject]?

    init(_ name: String, _ objects: ArraySlice<NSManagedObject> = []) {
        self.name = name
        var start = objects.startIndex
        while start < objects.endIndex {
            let end = min(start + FetchedChunk.capacity, objects.endIndex)
            chunks.append(FetchedChunk(Array(objects[start..<end]), of: self))
            counts.append(end - start)
            start = end
        }
        count = objects.count
    }

    // MARK: What users see

    var numberOfObjects: Int { count }
    var indexTitle: String? { controller?.indexTitle(ofSection: name) }
    var objects: [Any]? { list }

    var list: [NSManagedObject] {
        if let listed { return listed }
        let list = chunks.count == 1 ? chunks[0].objects : chunks.flatMap(\.objects)
        listed = list
        return list
    }

    // MARK: Places

    var first: NSManagedObject? { chunks.first?.objects.first }
    var last: NSManagedObject? { chunks.last?.objects.last }

    /// O(number of chunks).
    func object(at item: Int) -> NSManagedObject {
        var rest = item
        for (index, count) in counts.enumerated() {
            if rest < count { return chunks[index].objects[rest] }
            rest -= count
        }
        preconditionFailure("Section '\(name)' has \(count) objects, so none at \(item).")
    }

    /// The place of an object that is in the chunk.
    func item(of object: NSManagedObject, in chunk: FetchedChunk) -> Int? {
        guard let inside = chunk.objects.firstIndex(where: { $0 === object }) else { return nil }
        var before = 0
        for (index, other) in chunks.enumerated() {
            if other === chunk { return before + inside }
            before += counts[index]
        }
        return nil
    }

    // MARK: Changes

    func remove(_ object: NSManagedObject, from chunk: FetchedChunk) {
        guard let inside = chunk.objects.firstIndex(where: { $0 === object }),
            let index = chunks.firstIndex(where: { $0 === chunk })
        else { return }
        listed = nil
        chunk.objects.remove(at: inside)
        counts[index] -= 1
        count -= 1
        if chunk.objects.isEmpty {
            chunks.remove(at: index)
            counts.remove(at: index)
        }
    }

    /// Puts the object behind all rows that do not come after it; returns the chunks that have rows which were in
    /// others.
    func insert(_ object: NSManagedObject, by order: FetchedOrder, _ keys: FetchedOrder.Keys) -> [FetchedChunk] {
        listed = nil
        count += 1
        guard !chunks.isEmpty else {
            let chunk = FetchedChunk([object], of: self)
            chunks = [chunk]
            counts = [1]
            return [chunk]
        }
        // The last chunk whose first row does not come after the object; else the first.
        let following = chunks.firstIndexOfTail { order.compare(keys, $0.objects[0]) < 0 }
        let index = max(0, following - 1)
        let chunk = chunks[index]
        let inside = chunk.objects.firstIndexOfTail { order.compare(keys, $0) < 0 }
        chunk.objects.insert(object, at: inside)
        counts[index] += 1
        guard chunk.objects.count > FetchedChunk.capacity else { return [chunk] }
        let middle = chunk.objects.count / 2
        let upper = FetchedChunk(Array(chunk.objects[middle...]), of: self)
        chunk.objects.removeLast(chunk.objects.count - middle)
        chunks.insert(upper, at: index + 1)
        counts[index] = middle
        counts.insert(upper.objects.count, at: index + 1)
        return [chunk, upper]
    }
}

extension Array {
    /// Returns the first element for which `isInTail` is true; it must then be true for all following elements.
    func firstIndexOfTail(_ isInTail: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isInTail(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
