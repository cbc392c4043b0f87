/// Objects in an order, each at most once: to find, insert or remove one costs the same however many there are, but for
/// the processor's caches.
///
/// ```
///  starts     0             412               924
///  runs     ┌───────────┐ ┌───────────────┐ ┌─────────┐
///           │ a  b  c … │ │ …             │ │ …       │      at most 512 members each
///           └───────────┘ └───────────────┘ └─────────┘
///                ▲
///  runOf   b ────┘
/// ```
/// What comes or goes moves the members of its run that stand behind it, and the starts of the runs behind: eight bytes
/// for 512 members. A run that is full is split; two neighbours that half fill one become one. A relationship with few
/// members is one run, a plain array.
struct MemberList: ~Copyable {
    private final class Run {
        @exclusivity(unchecked) var members: [NSManagedObject]
        /// Its place among the runs.
        @exclusivity(unchecked) var number: Int

        init(_ members: [NSManagedObject], number: Int) {
            self.members = members
            self.number = number
        }
    }

    private static var runCapacity: Int { 512 }

    private var runs: [Run] = []
    /// How many members stand before each run.
    private var starts: [Int] = []
    /// The run of each member, which `runs` holds.
    private var runOf: [ObjectIdentifier: Unmanaged<Run>] = [:]

    init() {}

    init(_ members: [NSManagedObject]) {
        reserveCapacity(members.count)
        for member in members { append(member) }
    }

    // MARK: Asking

    var count: Int { runOf.count }

    /// All members in their order.
    var members: [NSManagedObject] {
        if runs.count <= 1 { return runs.first?.members ?? [] }
        var result: [NSManagedObject] = []
        result.reserveCapacity(count)
        for run in runs { result += run.members }
        return result
    }

    func contains(_ object: NSManagedObject) -> Bool { runOf[ObjectIdentifier(object)] != nil }

    subscript(index: Int) -> NSManagedObject {
        precondition(index >= 0 && index < count, "There is no member \(index) among \(count).")
        let run = run(at: index)
        return run.members[index - starts[run.number]]
    }

    func position(of object: NSManagedObject) -> Int? {
        guard let run = runOf[ObjectIdentifier(object)]?.takeUnretainedValue() else { return nil }
        return starts[run.number] + Self.offset(of: object, in: run)
    }

    // MARK: Changing

    mutating func reserveCapacity(_ count: Int) { runOf.reserveCapacity(count) }

    /// Puts an object that is not a member at the end.
    mutating func append(_ object: NSManagedObject) {
        if let last = runs.last, last.members.count < Self.runCapacity {
            last.members.append(object)
            runOf[ObjectIdentifier(object)] = .passUnretained(last)
        } else {
            let run = Run([object], number: runs.count)
            starts.append(count)
            runs.append(run)
            runOf[ObjectIdentifier(object)] = .passUnretained(run)
        }
    }

    /// Puts an object that is not a member before the member that stands there.
    mutating func insert(_ object: NSManagedObject, at index: Int) {
        if index == count { return append(object) }
        precondition(index >= 0 && index < count, "There is no place \(index) among \(count) members.")
        var run = run(at: index)
        if run.members.count == Self.runCapacity {
            split(run)
            run = self.run(at: index)
        }
        run.members.insert(object, at: index - starts[run.number])
        runOf[ObjectIdentifier(object)] = .passUnretained(run)
        moveStarts(behind: run.number, by: 1)
    }

    /// Removes the member and returns its position.
    mutating func remove(_ object: NSManagedObject) -> Int? {
        guard let run = runOf.removeValue(forKey: ObjectIdentifier(object))?.takeUnretainedValue() else { return nil }
        let offset = Self.offset(of: object, in: run)
        let position = starts[run.number] + offset
        run.members.remove(at: offset)
        moveStarts(behind: run.number, by: -1)
        mend(run)
        return position
    }

    // MARK: Runs

    private func run(at index: Int) -> Run {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= index { low = middle } else { high = middle }
        }
        return runs[low]
    }

    private static func offset(of object: NSManagedObject, in run: Run) -> Int {
        var offset = 0
        let isThere = !run.members.allHeldSatisfy { member in
            if member === object { return false }
            offset += 1
            return true
        }
        precondition(isThere, "a member is not in its run")
        return offset
    }

    private mutating func moveStarts(behind number: Int, by distance: Int) {
        // By address, so that several are moved at once.
        starts.withUnsafeMutableBufferPointer { starts in
            for next in starts.indices.dropFirst(number + 1) { starts[next] += distance }
        }
    }

    /// Gives the second half of a run to a new one behind it.
    private mutating func split(_ run: Run) {
        let middle = run.members.count / 2
        let second = Run(Array(run.members[middle...]), number: run.number + 1)
        run.members.removeSubrange(middle...)
        runs.insert(second, at: second.number)
        starts.insert(starts[run.number] + middle, at: second.number)
        second.members.forEachHeld { runOf[ObjectIdentifier($0)] = .passUnretained(second) }
        numberRuns(from: second.number)
    }

    /// Joins a run that has lost a member with the next one, if both are at most half full; removes an empty run.
    private mutating func mend(_ run: Run) {
        let next = run.number + 1
        if next < runs.count, run.members.count + runs[next].members.count <= Self.runCapacity / 2 {
            let second = runs[next]
            second.members.forEachHeld { runOf[ObjectIdentifier($0)] = .passUnretained(run) }
            run.members += second.members
            dropRun(next)
        } else if run.members.isEmpty {
            dropRun(run.number)
        }
    }

    private mutating func dropRun(_ number: Int) {
        runs.remove(at: number)
        starts.remove(at: number)
        numberRuns(from: number)
    }

    private func numberRuns(from first: Int) {
        var number = first
        runs.forEachHeld(in: first...) { run in
            run.number = number
            number += 1
        }
    }
}
