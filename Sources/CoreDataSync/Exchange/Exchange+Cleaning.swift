import CoreDataSyncEngine
import Foundation

/// Which of the files that were to be deleted were.
package struct Cleaning: Sendable {
    package var deleted: [FileName] = []
    /// Files that stay, because no intact snapshot of this device contains what is in them.
    package var kept: [FileName] = []
    /// Why the rest was not deleted.
    package var failure: (any Error)?

    package init() {}
}

/// Snapshots of this device, and the deletion of its files that no device needs.
extension Exchange {
    /// Writes a snapshot under the next number.
    ///
    /// - Returns: the number.
    @discardableResult
    package func write(_ snapshot: Snapshot) async throws -> UInt64 { try await writeWhole(snapshot).number }

    /// Writes a snapshot, and returns its number and its size: to encode it again for its size takes as long as to
    /// write it.
    func writeWhole(_ snapshot: Snapshot) async throws -> (number: UInt64, size: Int) {
        var (snapshot, size) = (snapshot, 0)
        snapshot.device = device
        let number = try await putNext(after: try await ownFiles().snapshots.last ?? 0) { number in
            snapshot.number = number
            let bytes = snapshot.bytes
            size = bytes.count
            return (.snapshot(number), bytes)
        }
        return (number, size)
    }

    /// The snapshots of this device in the place, for a ``PurgePlan``: the newest with its contents if it is intact, of
    /// the older ones the numbers only.
    package func ownSnapshots() async throws -> [PurgePlan.OwnSnapshot] {
        let own = try await ownFiles()
        let newest = try await newestSnapshot(own)
        return own.snapshots.compactMap { number in
            guard number == own.snapshots.last else { return .init(number, size: 0, contains: VersionVector()) }
            return newest.map { .init(number, size: $0.size, contains: $0.contains) }
        }
    }

    /// Deletes files of this device.
    ///
    /// A device that joins later must find everything. Therefore the newest snapshot in the place is read first:
    /// segments and blobs are deleted only if it is intact and contains the segments, and does not name the blobs. The
    /// newest snapshot and the newest hello stay in any case.
    ///
    /// - Throws: if the task was cancelled, or this device's folder cannot be listed.
    package func delete(_ files: [FileName]) async throws -> Cleaning {
        var result = Cleaning()
        let own = try await ownFiles()
        let newest: NewestSnapshot?
        do { newest = try await newestSnapshot(own) } catch let error as CancellationError { throw error } catch {
            result.failure = error
            return result
        }
        for file in files {
            try Task.checkCancellation()
            guard isDispensable(file, own, newest) else {
                result.kept.append(file)
                continue
            }
            do {
                try await place.delete(file.description, in: folder)
                result.deleted.append(file)
            } catch let error as CancellationError {
                throw error
            } catch {
                result.failure = error
                return result
            }
        }
        return result
    }

    private func isDispensable(_ file: FileName, _ own: DeviceFiles, _ newest: NewestSnapshot?) -> Bool {
        switch file {
        case .segment(let number): newest?.contains.contains(device, number) ?? false
        case .blob(let digest): newest.map { !$0.blobs.contains(digest) } ?? false
        case .snapshot(let number): newest.map { number < $0.number } ?? false
        case .hello(let number): number < own.hellos.last ?? 0
        case .model: true
        }
    }

    /// What the newest snapshot of this device says, as the place has it.
    private struct NewestSnapshot {
        let number: UInt64
        let size: Int
        let contains: VersionVector
        let blobs: Set<Data>
    }

    private func newestSnapshot(_ own: DeviceFiles) async throws -> NewestSnapshot? {
        guard let number = own.snapshots.last else { return nil }
        let key = FileKey(device, .snapshot(number))
        let reading = try await read(key)
        if case .failure(let error) = reading { throw error }
        guard case .data(let data) = reading, let snapshot = try? Snapshot(data, key, number) else { return nil }
        return NewestSnapshot(
            number: number, size: data.count, contains: snapshot.contains,
            blobs: snapshot.states.reduce(into: []) { $1.addBlobs(to: &$0) })
    }
}

extension ObjectState {
    /// Adds the digests of the large values that the state names.
    package func addBlobs(to digests: inout Set<Data>) {
        for state in properties.values {
            switch state {
            case .last(_, .blob(let digest, _)), .minimum(_, .blob(let digest, _)), .maximum(_, .blob(let digest, _)):
                digests.insert(digest)
            default: break
            }
        }
    }
}
