import Foundation
import TestSupport

@testable import CoreDataSyncEngine

/// Random parts of states from a seed: few devices, times and values, so that equal stamps with different values occur
/// often.
struct RandomStates {
    var numbers: SeededNumbers
    /// The number of different times.
    var times = 8

    init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

    static let devices = (1...3).map { DeviceID(high: UInt64($0) << 60, low: UInt64($0)) }
    static let ids = (1...4).map { GlobalID(high: 0x7000, low: UInt64($0)) }

    mutating func stamp() -> Stamp {
        // Seeds, edits with and without counters.
        let time = UInt64(numbers.below(times) + 1)
        let ticks = time <= 1 ? time : (800_000_000_000 + time / 2) << 16 | (time % 2) * 7
        return Stamp(ticks: ticks, device: numbers.pick(Self.devices))
    }

    mutating func value() -> SyncValue {
        switch numbers.below(13) {
        case 0: .null
        case 1: .integer(numbers.pick([0, -1, 5, .max, .min]))
        case 2: .double(numbers.pick([0.0, -0.0, 1.5, -2, .nan, .infinity]).bitPattern)
        case 3: .decimal(numbers.pick(["1", "1.0", "9", "10", "-3", "1e3", "NaN", "x", "-"]))
        case 4: .string(numbers.pick(["", "a", "b", "\u{e9}", "e\u{301}", "日本"]))
        case 5: .date(numbers.pick([0.0, 1e9, -5]).bitPattern)
        case 6: .data(Data(numbers.pick([[], [0], [1, 2], [255]])))
        case 7: .uuid(numbers.pick(Self.ids))
        case 8: .uri(numbers.pick(["a:b", "file:///x"]))
        case 9: .reference(numbers.pick(Self.ids))
        case 10: .blob(digest: Data(repeating: UInt8(numbers.below(2)), count: 32), size: numbers.below(3) * 20_000)
        case 11: .stored
        default: .integer(Int64(numbers.below(4)))
        }
    }

    mutating func property() -> PropertyState {
        switch numbers.below(9) {
        case 0: return .minimum(stamp(), value())
        case 1: return .maximum(stamp(), value())
        case 3:
            let candidates = (0..<numbers.below(4)).map { _ in PropertyState.Candidate(stamp(), value()) }
            return PropertyState(isMinimum: numbers.chance(2), candidates)
        case 2:
            var parts: [DeviceID: PropertyState.Contribution] = [:]
            for device in Self.devices where numbers.chance(2) {
                parts[device] = .init(ticks: stamp().ticks, amount: value())
            }
            return .counter(parts)
        case 4, 5: return .elements(numbers.pick(PropertyState.ElementKind.allCases), elements())
        default: return .last(stamp(), value())
        }
    }

    mutating func elements() -> ElementSet {
        let elements = (0..<numbers.below(4)).map { _ in
            ElementSet.Element(stamp(), numbers.pick(["", "a", "b"]), value())
        }
        var known: [DeviceID: UInt64] = [:]
        for device in Self.devices where numbers.chance(2) { known[device] = stamp().ticks }
        let bases = (0..<numbers.below(3)).map { _ in stamp() }
        return ElementSet(elements, known: known, bases: Set(bases))
    }

    mutating func edge() -> EdgeState {
        var edge = EdgeState()
        if !numbers.chance(3) { edge.added = stamp() }
        if numbers.chance(3) { edge.removed = stamp() }
        if numbers.chance(3) { edge.position = property() }
        if numbers.chance(4) { edge.inversePosition = property() }
        return edge
    }

    mutating func state(_ id: GlobalID = ids[0]) -> ObjectState {
        var state = ObjectState(id: id, entity: .init(numbers.pick(["Item", "Unit", "Größe"]), stamp()))
        if !numbers.chance(3) { state.created = stamp() }
        if numbers.chance(2) { state.born = numbers.chance(2) ? state.created : stamp() }
        if numbers.chance(3) { state.deleted = stamp() }
        if let created = state.created, numbers.chance(2) { state.entity.stamp = created }
        for name in ["name", "quantity", "unit", "unit#", "size.width"] where numbers.chance(2) {
            state.properties[name] = property()
            if let created = state.created, numbers.chance(3) {
                state.properties[name] = .last(created, numbers.chance(2) ? .stored : value())
            }
        }
        for relationship in ["tags", "friends"] {
            for id in Self.ids where numbers.chance(4) { state.edges[.init(relationship, id)] = edge() }
        }
        for id in Self.ids where numbers.chance(8) { state.aliases.insert(id) }
        return state
    }
}
