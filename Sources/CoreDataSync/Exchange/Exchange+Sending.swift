import CoreDataDigests
import CoreDataSyncEngine
import Foundation

/// A segment of the outbox with the large values that its states name.
package struct OutgoingSegment: Sendable {
    package var number: UInt64
    /// The segment's bytes. They never change once they have a number.
    package var bytes: Data
    /// The contents of blobs, which the place gets before the segment.
    package var blobs: [Data]

    package init(number: UInt64, bytes: Data, blobs: [Data] = []) {
        (self.number, self.bytes, self.blobs) = (number, bytes, blobs)
    }
}

/// What became of a file that was to be sent.
package enum Delivery: Hashable, Sendable {
    /// The place has the file with these bytes.
    case sent
    /// The place has an intact file of that name with other bytes: another device uses this device's ID.
    case taken
    /// The place has a file of that name that cannot be read at present. The caller sends it again later.
    case unreadable
}

/// What became of the segments of an outbox.
package struct Sending: Sendable {
    /// The segments that the place has: they can be removed from the outbox.
    package var sent: [UInt64] = []
    /// The first segment whose number the place has with other bytes. Nothing after it was sent.
    package var taken: UInt64?
    /// Segments that are to be sent again later.
    package var waiting: [UInt64] = []
    /// Why the rest was not sent.
    package var failure: (any Error)?

    package init() {}
}

extension Exchange {
    /// Sends segments in the order given, each after its blobs.
    ///
    /// A segment that the place has already counts as sent, so a caller that was killed sends its outbox again.
    /// - Throws: if the task was cancelled. A failure of the place is in the result.
    package func send(_ segments: [OutgoingSegment]) async throws -> Sending {
        var result = Sending()
        for segment in segments {
            try Task.checkCancellation()
            do {
                switch try await deliver(segment) {
                case .sent: result.sent.append(segment.number)
                case .unreadable: result.waiting.append(segment.number)
                case .taken:
                    result.taken = segment.number
                    return result
                }
            } catch let error as CancellationError {
                throw error
            } catch {
                result.failure = error
                return result
            }
        }
        return result
    }

    /// Whether the place has a segment with the same bytes.
    package func has(_ segment: OutgoingSegment) async throws -> Bool {
        switch try await read(FileKey(device, .segment(segment.number))) {
        case .data(let data): data == segment.bytes
        case .absent, .fault: false
        case .failure(let error): throw error
        }
    }

    private func deliver(_ segment: OutgoingSegment) async throws -> Delivery {
        for blob in segment.blobs {
            guard try await put(.blob(Digests.sha256(blob)), blob) == .sent else { return .unreadable }
        }
        return try await put(.segment(segment.number), segment.bytes)
    }

    /// Writes a model's outline, by which devices with another model read this device's files.
    ///
    /// Two versions of the framework may write the same outline in different bytes: the one that exists will do.
    package func send(_ model: ModelOutline) async throws -> Delivery {
        let delivery = try await put(model.name, model.bytes)
        return delivery == .taken ? .sent : delivery
    }

    /// Creates a file of this device if it does not exist; otherwise compares the bytes.
    package func put(_ file: FileName, _ data: Data) async throws -> Delivery {
        let name = file.description
        if try await place.create(name, in: folder, data) { return sent(file) }
        let key = FileKey(device, file)
        switch try await read(key) {
        case .failure(let error): throw error
        case .absent: return .unreadable
        case .data(data): return sent(file)
        case .data(let other):
            if isIntact(file, other) { return .taken }
            return try await repair(file, data, FileFault(.torn, "its bytes are not those that were sent", file: name))
        case .fault(let fault): return try await repair(file, data, fault)
        }
    }

    private func sent(_ file: FileName) -> Delivery {
        schedule.noteSuccess(FileKey(device, file))
        return .sent
    }

    /// Whether a file's bytes are what some device wrote under that name.
    private func isIntact(_ file: FileName, _ data: Data) -> Bool {
        do {
            switch file {
            case .hello: _ = try Hello(bytes: data)
            case .segment: _ = try Segment(bytes: data)
            case .snapshot: _ = try Snapshot(bytes: data)
            case .model: _ = try ModelOutline(bytes: data)
            case .blob(let digest): return Digests.sha256(data) == digest
            }
            return true
        } catch {
            // The checksum of these is right.
            return error.kind == .newerVersion || error.kind == .malformed
        }
    }

    /// Writes an own file again that has been damaged in the place for long; a file that is being copied becomes whole
    /// before.
    private func repair(_ file: FileName, _ data: Data, _ fault: FileFault) async throws -> Delivery {
        let key = FileKey(device, file)
        guard let time = schedule.failingTime(key, now: now()), time >= limits.repairDelay else {
            schedule.noteFailure(key, fault, now: now())
            return .unreadable
        }
        try await place.delete(file.description, in: folder)
        guard try await place.create(file.description, in: folder, data) else { return .unreadable }
        return sent(file)
    }

    // MARK: - Hello

    /// Writes a hello under the next number, then deletes the older ones.
    ///
    /// - Returns: the number.
    @discardableResult
    package func publish(_ hello: Hello) async throws -> UInt64 {
        let older = try await ownFiles().hellos
        var hello = hello
        hello.device = device
        hello.number = try await putNext(after: max(lastHello, older.last ?? 0)) { number in
            hello.number = number
            return (.hello(number), hello.bytes)
        }
        lastHello = hello.number
        // A hello that could not be deleted is deleted with the next one.
        for number in older where number < hello.number {
            do { try await place.delete(FileName.hello(number).description, in: folder) } catch is CancellationError {
                throw CancellationError()
            } catch { break }
        }
        return hello.number
    }

    /// Creates a file under the first free number: a listing may be late, so that the next one may exist.
    func putNext(after last: UInt64, _ make: (UInt64) -> (FileName, Data)) async throws -> UInt64 {
        for number in (last + 1)...(last + 32) {
            let (file, data) = make(number)
            if try await put(file, data) == .sent { return number }
            // That number is not used again.
            schedule.noteSuccess(FileKey(device, file))
        }
        throw SyncPlaceError(
            .unavailable, "No file can be created in the folder '\(folder)' of the place: all names seem to exist.",
            path: folder)
    }

    /// Says goodbye: the other devices keep no more segments for this one. Its files stay, for those who have not read
    /// them.
    @discardableResult
    package func leave(_ hello: Hello) async throws -> UInt64 {
        var last = hello
        last.left = true
        return try await publish(last)
    }
}
