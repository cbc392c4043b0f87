import CoreDataDigests
import Foundation

/// A list that is kept as an ``ElementSet``: the lines of a text, the items of an enumeration.
///
/// The position of an element ends with a mark of its value, not of the device. So two devices that insert the same
/// elements at the same place add equal ones, which count once.
package enum ElementList {
    /// The values that the set means.
    package static func values(_ set: ElementSet) -> [SyncValue] { shown(set).map(\.value) }

    /// The set after a device changed the list to other values: elements that stay keep their places.
    ///
    /// - Parameter isSet: whether equal values are one element wherever they are.
    package static func changed(
        _ set: ElementSet, to values: [SyncValue], at stamp: Stamp, isSet: Bool = false
    ) -> ElementSet {
        let old = shown(set, isSet: isSet)
        var kept = [Int?](repeating: nil, count: values.count)
        let difference = values.difference(from: old.map(\.value))
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        let remaining = old.indices.filter { !removed.contains($0) }
        for (place, index) in zip(values.indices.filter { !inserted.contains($0) }, remaining) { kept[place] = index }
        // All copies of an element stay, so that no device that removed one of them removes it here.
        var elements = copies(of: remaining.map { old[$0] }, in: set, isSet: isSet)
        var (start, lower) = (0, String?.none)
        for place in Array(values.indices.filter { kept[$0] != nil }) + [values.count] {
            let upper = place < values.count ? kept[place].map { old[$0].position } : nil
            let run = values[start..<place]
            let positions = Position.several(between: lower, upper, marks: run.map(mark))
            for (value, position) in zip(run, positions) { elements.append(.init(stamp, position, value)) }
            (start, lower) = (place + 1, upper)
        }
        return set.replaced(by: elements, at: stamp)
    }

    /// What is one element, whichever device added it.
    private struct Place: Hashable {
        private let position: String
        private let value: SyncValue

        init(_ element: ElementSet.Element, isSet: Bool) {
            (position, value) = (isSet ? "" : element.position, element.value)
        }
    }

    private static func copies(
        of elements: [ElementSet.Element], in set: ElementSet, isSet: Bool
    ) -> [ElementSet.Element] {
        let places = Set(elements.map { Place($0, isSet: isSet) })
        return set.elements.filter { places.contains(Place($0, isSet: isSet)) }
    }

    private static func shown(_ set: ElementSet, isSet: Bool = false) -> [ElementSet.Element] {
        var seen: Set<Place> = []
        return set.counted.filter { seen.insert(Place($0, isSet: isSet)).inserted }
    }

    private static func mark(_ value: SyncValue) -> Identifier128 {
        let digest = [UInt8](Digests.sha256(value.bytes))
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        return Identifier128(high: word(digest[0..<8]), low: word(digest[8..<16]))
    }
}
