import Foundation

/// Which segments of which devices are known, as ranges of their numbers. A device counts its segments from 1.
package struct VersionVector: Hashable, Sendable {
    /// Ascending; between two ranges at least one number is missing. No device without a range.
    private var ranges: [DeviceID: [ClosedRange<UInt64>]] = [:]

    package init() {}

    package var isEmpty: Bool { ranges.isEmpty }

    /// The devices with a known segment, in order.
    package var devices: [DeviceID] { ranges.keys.sorted() }

    package func ranges(of device: DeviceID) -> [ClosedRange<UInt64>] { ranges[device] ?? [] }

    package func contains(_ device: DeviceID, _ number: UInt64) -> Bool {
        guard let own = ranges[device] else { return false }
        let index = Self.firstIndex(own, endingAtOrAfter: number)
        return index < own.count && own[index].lowerBound <= number
    }

    /// The greatest number up to which every segment is known; 0 if the first is not.
    package func contiguous(_ device: DeviceID) -> UInt64 {
        guard let first = ranges[device]?.first, first.lowerBound <= 1 else { return 0 }
        return first.upperBound
    }

    /// The greatest known number; 0 if none is.
    package func highest(_ device: DeviceID) -> UInt64 { ranges[device]?.last?.upperBound ?? 0 }

    package mutating func insert(_ device: DeviceID, _ number: UInt64) { insert(device, number...number) }

    package mutating func insert(_ device: DeviceID, _ added: ClosedRange<UInt64>) {
        var own = ranges.removeValue(forKey: device) ?? []
        defer { ranges[device] = own }
        // The ranges that touch the new one become one range with it.
        let before = added.lowerBound == 0 ? 0 : added.lowerBound - 1
        let after = added.upperBound == .max ? .max : added.upperBound + 1
        let first = Self.firstIndex(own, endingAtOrAfter: before)
        var last = first
        var merged = added
        while last < own.count, own[last].lowerBound <= after {
            merged = min(merged.lowerBound, own[last].lowerBound)...max(merged.upperBound, own[last].upperBound)
            last += 1
        }
        own.replaceSubrange(first..<last, with: CollectionOfOne(merged))
    }

    package mutating func formUnion(_ other: Self) {
        for (device, others) in other.ranges {
            guard ranges[device] != nil else {
                ranges[device] = others
                continue
            }
            for range in others { insert(device, range) }
        }
    }

    package func union(_ other: Self) -> Self {
        var result = self
        result.formUnion(other)
        return result
    }

    /// The known segments of one device.
    package func part(of device: DeviceID) -> Self {
        var result = Self()
        result.ranges[device] = ranges[device]
        return result
    }

    package func isSuperset(of other: Self) -> Bool {
        for (device, others) in other.ranges {
            guard let own = ranges[device] else { return false }
            for range in others {
                let index = Self.firstIndex(own, endingAtOrAfter: range.lowerBound)
                guard index < own.count, own[index].lowerBound <= range.lowerBound,
                    range.upperBound <= own[index].upperBound
                else { return false }
            }
        }
        return true
    }

    private static func firstIndex(_ own: [ClosedRange<UInt64>], endingAtOrAfter number: UInt64) -> Int {
        var (low, high) = (0, own.count)
        while low < high {
            let middle = (low + high) / 2
            if own[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension VersionVector {
    package var bytes: Data {
        var writer = ByteWriter()
        write(to: &writer)
        return writer.asData
    }

    package init(bytes: Data) throws(FileFault) {
        var reader = ByteReader(bytes)
        try self.init(from: &reader)
        try reader.finish()
    }

    func write(to writer: inout ByteWriter) {
        writer.varint(ranges.count)
        for device in devices {
            writer.identifier(device)
            let own = ranges(of: device)
            writer.varint(own.count)
            // Each bound is a distance from the one before.
            var last: UInt64 = 0
            for range in own {
                writer.varint(range.lowerBound - last)
                writer.varint(range.upperBound - range.lowerBound)
                last = range.upperBound
            }
        }
    }

    /// - Parameter wanted: the only device that is kept; `nil` for all. Each file of each device names all devices.
    init(from reader: inout ByteReader, of wanted: DeviceID? = nil) throws(FileFault) {
        self.init()
        let deviceCount = try reader.count(ofSize: 19)
        if wanted == nil { ranges.reserveCapacity(deviceCount) }
        var lastDevice: DeviceID?
        for _ in 0..<deviceCount {
            let device = try reader.identifier()
            guard lastDevice.map({ $0 < device }) ?? true else { throw reader.fault("devices are not in order") }
            lastDevice = device
            let count = try reader.count(ofSize: 2)
            guard count > 0 else { throw reader.fault("a device has no ranges") }
            let isWanted = wanted.map { $0 == device } ?? true
            var own: [ClosedRange<UInt64>] = []
            if isWanted { own.reserveCapacity(count) }
            var last: UInt64 = 0
            for index in 0..<count {
                let distance = try reader.varint()
                let length = try reader.varint()
                let (lower, isTooGreat) = last.addingReportingOverflow(distance)
                let (upper, isTooLong) = lower.addingReportingOverflow(length)
                guard !isTooGreat, !isTooLong, index == 0 || distance > 1 else {
                    throw reader.fault("ranges of segment numbers are not in order")
                }
                if isWanted { own.append(lower...upper) }
                last = upper
            }
            if isWanted { ranges[device] = own }
        }
    }
}
