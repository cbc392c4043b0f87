/// The two orders of names in Apple's files.
package enum NameOrder {
    /// Compares by UTF-16 code units, as hashes, slots and archives sort names: `Zebra` before `apple`.
    package static func byCodeUnits(_ a: String, _ b: String) -> Bool {
        precedes(a, b) ?? a.utf16.lexicographicallyPrecedes(b.utf16)
    }

    /// Compares UTF-8 bytes, which have the same order except for characters above U+DFFF; `nil` if the names contain
    /// those.
    private static func precedes(_ a: String, _ b: String) -> Bool? {
        a.utf8.withContiguousStorageIfAvailable { a in
            b.utf8.withContiguousStorageIfAvailable { b in
                for index in 0..<min(a.count, b.count) where a[index] != b[index] {
                    return max(a[index], b[index]) < 0xEE ? a[index] < b[index] : nil
                }
                return a.count < b.count
            } ?? nil
        } ?? nil
    }

    /// Compares ignoring case, as entities are numbered: `apple` before `Zebra`.
    package static func ignoringCase(_ a: String, _ b: String) -> Bool {
        let foldedA = a.lowercased()
        let foldedB = b.lowercased()
        return foldedA.utf16.elementsEqual(foldedB.utf16) ? byCodeUnits(a, b) : byCodeUnits(foldedA, foldedB)
    }
}
