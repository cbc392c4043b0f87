extension Array where Element: AnyObject {
    /// Calls `body` with each element, and counts no references: the array, which nobody can change meanwhile, holds them.
    ///
    /// A `for` loop retains and releases every element, which costs more than what most loops of a save do with it.
    @inline(__always)
    func forEachHeld(from start: Int = 0, _ body: (Element) throws -> Void) rethrows {
        try withUnsafeBufferPointer { elements in
            try elements.withMemoryRebound(to: Unmanaged<Element>.self) { references in
                for index in start..<references.count { try references[index]._withUnsafeGuaranteedRef(body) }
            }
        }
    }

    /// Whether `body` says so of every element; counts no references.
    @inline(__always)
    func allHeldSatisfy(_ body: (Element) -> Bool) -> Bool {
        withUnsafeBufferPointer { elements in
            elements.withMemoryRebound(to: Unmanaged<Element>.self) { references in
                for reference in references where !reference._withUnsafeGuaranteedRef(body) { return false }
                return true
            }
        }
    }
}
