extension Array where Element: AnyObject {
    /// Calls `body` with each element without counting references: the array, which no other code can change meanwhile,
    /// holds the elements.
    ///
    /// A `for` loop retains and releases every element, which costs more than the work of most loops of a save.
    @inline(__always)
    func forEachHeld(_ body: (Element) throws -> Void) rethrows { try forEachHeld(in: 0..., body) }

    /// Calls `body` with each of those elements, and counts no references.
    @inline(__always)
    func forEachHeld(in range: some RangeExpression<Int>, _ body: (Element) throws -> Void) rethrows {
        let range = range.relative(to: indices)
        try withUnsafeBufferPointer { elements in
            try elements.withMemoryRebound(to: Unmanaged<Element>.self) { references in
                for index in range { try references[index]._withUnsafeGuaranteedRef(body) }
            }
        }
    }

    /// Calls `body` with ranges of 256 elements, one after the other: several loops over one range find its objects in
    /// the processor's cache.
    func forEachPortion(_ body: (Range<Int>) throws -> Void) rethrows {
        for start in stride(from: 0, to: count, by: 256) { try body(start..<Swift.min(start + 256, count)) }
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
