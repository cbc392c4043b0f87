/// The order of an ordered to-many's members that two sides have changed: a context and a save that it merges, or a
/// child and its parent that takes what the child saves.
///
/// The members that both sides have stand in the order of the side that is merged onto the other ("here": the context,
/// the child) if it moved any of them, else in the order of the other side ("there": the save, the parent). Each other
/// member keeps its place:
///
/// 1. A member that came first stays first, and one that came last stays last.
/// 2. Any other one stays behind the member of both sides that it follows.
/// 3. Members from both sides at the same place: those from here stand before those from there.
/// 4. A member that both sides added stands where it was put here.
///
/// ```
/// both had   here       there        merged
/// 1 2 3      3 1 2      1 2 3 20     3 1 2 20        moved here, added last there
/// 1 2 3      3 1 2      1 20 2 3     3 1 20 2        moved here, inserted behind 1 there
/// 1 2 3      1 2 3 10   3 1 2        3 1 2 10        added last here, moved there
/// 1 2 3      1 2 3 10   1 2 3 20     1 2 3 10 20     both added last
/// ```
/// See the decision in docs/decisions/order-after-merging.md.
enum MergedOrder {
    /// Returns the merged order of two lists from which the removals of the other side were taken.
    ///
    /// - Parameters:
    ///   - addedHere: The members that were added here, whether or not they were added there too.
    ///   - isMovedHere: Whether members that both sides have were moved here.
    static func members<Member: Hashable>(
        here: [Member], there: [Member], addedHere: Set<Member>, isMovedHere: Bool
    ) -> [Member] {
        let there = addedHere.isEmpty ? there : there.filter { !addedHere.contains($0) }
        let both = Set(there).intersection(here)
        let (fromHere, fromThere) = (AddedMembers(in: here, besides: both), AddedMembers(in: there, besides: both))
        var merged = fromHere.first + fromThere.first
        for member in isMovedHere ? here : there where both.contains(member) {
            merged.append(member)
            if let following = fromHere.behind[member] { merged += following }
            if let following = fromThere.behind[member] { merged += following }
        }
        return merged + fromHere.last + fromThere.last
    }

    /// The members that only one side has, by their positions among the members of both.
    private struct AddedMembers<Member: Hashable> {
        private(set) var first: [Member] = []
        private(set) var behind: [Member: [Member]] = [:]
        private(set) var last: [Member] = []

        init(in list: [Member], besides both: Set<Member>) {
            var previous: Member?
            var run: [Member] = []
            for member in list {
                guard both.contains(member) else {
                    run.append(member)
                    continue
                }
                if let previous { behind[previous] = run } else { first = run }
                (previous, run) = (member, [])
            }
            last = run
        }
    }
}
