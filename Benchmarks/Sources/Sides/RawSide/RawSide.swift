import Foundation
import Measuring
import RawSQLite

/// Plain calls of SQLite's C interface: prepared statements, nothing kept.
package struct RawSide: Side {
    package let name = SideName.raw

    package init() {}

    package func trial(_ workload: Workload, store: URL, rows: Int) throws -> Trial? {
        if workload == .open { return openingTrial(store) }
        let session = try RawSession(store)
        if workload.isRecorded { raw_record_history(session.session) }
        if workload.raisesOwners { raw_raise_owners(session.session) }
        let run = try work(workload.plain, session, rows: rows)
        return Trial(run: run, finish: { _ = session })
    }

    private func work(_ workload: Workload, _ session: RawSession, rows: Int) throws -> () throws -> Digest {
        switch workload {
        case .insert:
            let items = Samples.rawItems(from: 1, count: rows, rows: rows)
            return { try session.writing { raw_insert(session.session, items, Int64(rows)) } }
        case .saveEach:
            let items = Samples.rawItems(from: rows + 1, count: Workload.saves, rows: rows)
            return { try session.writing { raw_insert_each(session.session, items, Int64(items.count)) } }
        case .update:
            var loaded = try load(session, rows: rows)
            return { try session.writing { raw_update(session.session, &loaded, Int64(rows)) } }
        case .delete:
            let loaded = try load(session, rows: rows)
            return { try session.writing { raw_delete(session.session, loaded, Int64(rows)) } }
        case .fetchKeys, .fetchRegistered:
            let keys = Samples.shuffledPositions(rows).map { Int64($0 + 1) }
            return { try session.digest { raw_fetch_keys($0, keys, Int64(rows), $1) } }
        case .fetchAll: return { try session.digest(raw_fetch_all) }
        case .fetchPage, .fetchPageIndexed: return { try session.digest(raw_fetch_page) }
        case .prefetch: return { try session.digest(raw_fetch_joined) }
        case .count: return { try session.digest(raw_count) }
        case .dictionaries: return { try session.digest(raw_fetch_pairs) }
        case .decodedRows, .tuples, .rows: return { try session.digest(raw_fetch_triples) }
        case .open, .insertRecorded, .updateRecorded, .deleteRecorded, .saveEachRecorded, .saveEachOwned:
            return { Digest() }
        }
    }

    private func load(_ session: RawSession, rows: Int) throws -> [raw_row] {
        var loaded = [raw_row](repeating: raw_row(), count: rows)
        try session.check(raw_load(session.session, &loaded, Int64(rows)))
        return loaded
    }

    private func openingTrial(_ store: URL) -> Trial {
        var opened: RawSession?
        return Trial(
            run: {
                var session: OpaquePointer?
                var digest = raw_digest()
                let code = raw_open_and_fetch(store.path, &session, &digest)
                guard let session else { throw MeasuringFailure("SQLite: cannot open \(store.path).") }
                let made = RawSession(session)
                opened = made
                try made.check(code)
                return Digest(digest)
            },
            reset: { opened = nil },
            finish: { withExtendedLifetime(opened) { opened = nil } })
    }

    /// Plain C calls keep nothing, so there is nothing to count.
    package func hold(_ kind: ObjectKind, store: URL, rows: Int) throws -> Holding? { nil }
}

extension RawSession {
    /// Runs one of the writing functions; what it did is read from the file afterwards.
    fileprivate func writing(_ work: () -> Int32) throws -> Digest {
        try check(work())
        return Digest()
    }
}
