extension Array {
    /// Removes the elements at these indexes, which must be in ascending order.
    @inlinable
    package mutating func removeElements(at places: [Int]) {
        guard places.count < count else { return removeAll() }
        var next = places[...]
        var index = -1
        removeAll { _ in
            index += 1
            guard next.first == index else { return false }
            next.removeFirst()
            return true
        }
    }
}
