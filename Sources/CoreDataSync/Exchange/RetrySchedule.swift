import CoreDataSyncEngine

/// A file in a device's folder.
package struct FileKey: Hashable, Sendable {
    package let device: DeviceID
    package let file: FileName

    package init(_ device: DeviceID, _ file: FileName) { (self.device, self.file) = (device, file) }
}

/// Which files could not be read, and when each is read again: after 5 seconds, then after twice the time before, at
/// most an hour.
///
/// A value without a clock: the caller says what time it is, in milliseconds.
package struct RetrySchedule: Sendable {
    package struct Entry: Hashable, Sendable {
        /// The number of attempts that failed.
        package fileprivate(set) var attempts: Int
        /// When the first and the last attempt failed, and when the next one is due.
        package let first: UInt64
        package fileprivate(set) var last: UInt64
        package fileprivate(set) var next: UInt64
        /// Why the last attempt failed; `nil` if a file was listed, but did not exist.
        package fileprivate(set) var fault: FileFault?
    }

    package private(set) var entries: [FileKey: Entry] = [:]

    package static let firstDelay: UInt64 = 5_000
    package static let greatestDelay: UInt64 = 3_600_000

    package init() {}

    /// Whether a file may be read now: no attempt failed yet, or the next one is due.
    package func isDue(_ key: FileKey, now: UInt64) -> Bool {
        guard let entry = entries[key] else { return true }
        // The clock may have been set back.
        return now >= entry.next || now < entry.last
    }

    /// How long attempts for a file have failed; `nil` if none did.
    package func failingTime(_ key: FileKey, now: UInt64) -> UInt64? {
        entries[key].map { now > $0.first ? now - $0.first : 0 }
    }

    package mutating func noteFailure(_ key: FileKey, _ fault: FileFault?, now: UInt64) {
        var entry = entries[key] ?? Entry(attempts: 0, first: now, last: now, next: now, fault: nil)
        let delay = min(Self.firstDelay << UInt64(min(entry.attempts, 20)), Self.greatestDelay)
        entry.attempts += 1
        (entry.last, entry.next, entry.fault) = (now, now &+ delay, fault)
        entries[key] = entry
    }

    package mutating func noteSuccess(_ key: FileKey) { entries[key] = nil }

    /// Forgets the files for which the caller no longer needs a schedule.
    package mutating func remove(where isObsolete: (FileKey, Entry) -> Bool) {
        entries = entries.filter { !isObsolete($0.key, $0.value) }
    }
}
