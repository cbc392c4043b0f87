/// The two orders of names that Apple's files follow.
package enum NameOrder {
    /// By UTF-16 code units, as hashes, slots and archives sort names: `Zebra` before `apple`.
    package static func byCodeUnits(_ a: String, _ b: String) -> Bool {
        a.utf16.lexicographicallyPrecedes(b.utf16)
    }

    /// Without regard to case, as entities are numbered: `apple` before `Zebra`.
    package static func ignoringCase(_ a: String, _ b: String) -> Bool {
        let foldedA = a.lowercased()
        let foldedB = b.lowercased()
        return foldedA.utf16.elementsEqual(foldedB.utf16) ? byCodeUnits(a, b) : byCodeUnits(foldedA, foldedB)
    }
}
