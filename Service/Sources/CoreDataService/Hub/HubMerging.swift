import Foundation

/// Merges two changes of one value that were made without knowledge of each other.
enum HubMerging {
    /// Returns the lines of both changes of a text: a line that one of them removed is removed, a line that one of them
    /// added is added.
    static func lines(_ base: String, _ mine: String, _ theirs: String) -> String {
        if mine == theirs || base == mine { return theirs }
        if base == theirs { return mine }
        func split(_ text: String) -> [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
        return merged(split(base), split(mine), split(theirs)).joined(separator: "\n")
    }

    /// Returns the items between commas of both changes, each once.
    static func items(_ base: String, _ mine: String, _ theirs: String) -> String {
        func split(_ text: String) -> [String] {
            text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        let (base, mine, theirs) = (split(base), split(mine), split(theirs))
        return members(base, mine, theirs).joined(separator: ", ")
    }

    /// Returns the members of both changes of a set: those of `theirs`, with what `mine` added and without what it
    /// removed.
    static func members<Member: Hashable>(_ base: [Member], _ mine: [Member], _ theirs: [Member]) -> [Member] {
        let (before, own, known) = (Set(base), Set(mine), Set(theirs))
        var seen: Set<Member> = []
        return
            (theirs.filter { !before.contains($0) || own.contains($0) }
            + mine.filter { !before.contains($0) && !known.contains($0) }).filter { seen.insert($0).inserted }
    }

    /// Returns members in the order of `mine`; those that it does not have follow the member that they follow.
    static func ordered<Member: Hashable>(_ members: [Member], like mine: [Member]) -> [Member] {
        let present = Set(members)
        var result = mine.filter(present.contains)
        let known = Set(mine)
        for (index, member) in members.enumerated() where !known.contains(member) {
            let before = index > 0 ? result.firstIndex(of: members[index - 1]) : nil
            result.insert(member, at: before.map { $0 + 1 } ?? 0)
        }
        return result
    }

    private static func merged<Element: Hashable>(
        _ base: [Element], _ mine: [Element], _ theirs: [Element]
    ) -> [Element] {
        let (own, other) = (Edits(base, mine), Edits(base, theirs))
        var result: [Element] = []
        for index in 0...base.count {
            let (added, others) = (own.insertions[index] ?? [], other.insertions[index] ?? [])
            result += others
            if added != others { result += added }
            guard index < base.count, !own.removed.contains(index), !other.removed.contains(index) else { continue }
            result.append(base[index])
        }
        return result
    }

    /// What turns one list into another: elements by their place in the first one.
    private struct Edits<Element: Hashable> {
        var removed: Set<Int> = []
        /// By the place of the element that follows.
        var insertions: [Int: [Element]] = [:]

        init(_ base: [Element], _ changed: [Element]) {
            let difference = changed.difference(from: base)
            var inserted: Set<Int> = []
            for change in difference {
                switch change {
                case .remove(let offset, _, _): removed.insert(offset)
                case .insert(let offset, _, _): inserted.insert(offset)
                }
            }
            var place = 0
            for (index, element) in changed.enumerated() {
                if inserted.contains(index) {
                    insertions[place, default: []].append(element)
                    continue
                }
                while removed.contains(place) { place += 1 }
                place += 1
            }
        }
    }
}
