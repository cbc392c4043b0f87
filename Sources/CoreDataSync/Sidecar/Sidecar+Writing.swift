import CoreData
import CoreDataSyncEngine
import Foundation

extension Sidecar {
    /// Up to this number of entries are written as objects; more go through the redo log.
    static let directLimit = 500

    /// Writes everything in one transaction: after a crash all of it is there, or none.
    ///
    /// An error leaves the sidecar as it was.
    package func write(_ change: SidecarChange) throws {
        try perform { context in
            try finishRedo(context, isWriting: true)
            // The states come first: they add names, which the settings' row keeps.
            let encoded = Self.unique(try change.entries.map(encode))
            let new = try change.newEntries.alone()
            var directory = try directory(context)
            let isLarge = encoded.count + new.count + change.removedEntries.count > Self.directLimit
            if isLarge {
                try writeRedo(encoded, new, change.removedEntries, context)
            } else {
                try removeFromBlocks(encoded.map(\.id) + change.removedEntries, &directory, context)
                try writeDirectly(new + encoded, change.removedEntries, context)
            }
            insert(change.newEntries.together, into: &directory, context)
            try writeQueues(change, context)
            let names = (coder.names.names.count, coder.names.devices.count)
            let settings = change.settings ?? current
            try writeSettings(settings, names: names, context)
            try willCommit?()
            try context.save()
            (current, writtenNames, blockDirectory) = (settings, names, directory)
            guard isLarge else { return }
            hasRedo = true
            context.reset()
            // The transaction is committed: what fails from here on is done again by the next call.
            do {
                try didCommit?()
                try finishRedo(context, isFirst: true, isWriting: true)
            } catch {}
        }
    }

    private func encode(_ entry: SidecarEntry) throws -> EncodedEntry {
        let root = Int32(numberInQueue(of: entry.root))
        guard EntryPlace.fits(root: root, key: max(entry.key, entry.formerKey)), entry.key >= 0 else {
            throw SyncErrors.make(
                134060,
                "An object of entity \"\(entry.entityName)\" has the primary key \(entry.key), which synchronisation cannot keep: keys must be from 0 to 2^48."
            )
        }
        return EncodedEntry(
            id: entry.id, place: EntryPlace.make(root: root, key: entry.key, formerKey: entry.formerKey),
            content: EncodedEntry.content(coder.encode(entry.state), entry.digests.map { [UInt8]($0) } ?? []))
    }

    /// Of several entries with one ID the last one.
    private static func unique(_ entries: [EncodedEntry]) -> [EncodedEntry] {
        if entries.count < 2 { return entries }
        var places: [GlobalID: Int] = [:]
        places.reserveCapacity(entries.count)
        var result = entries
        var count = 0
        for entry in entries {
            if let place = places[entry.id] {
                result[place] = entry
            } else {
                places[entry.id] = count
                result[count] = entry
                count += 1
            }
        }
        result.removeLast(result.count - count)
        return result
    }

    private func writeSettings(
        _ settings: SidecarSettings, names: (Int, Int), _ context: NSManagedObjectContext
    ) throws {
        let found = try context.fetch(NSFetchRequest<SettingsObject>(entityName: "Settings")).first
        if let found, settings == current, names == writtenNames {
            if found.format != SidecarModel.format { found.format = SidecarModel.format }
            return
        }
        let row = found ?? SettingsObject(context: context)
        row.format = SidecarModel.format
        row.content = try settings.content()
        if found == nil || names != writtenNames { row.names = coder.names.bytes }
    }

    // MARK: Few entries

    private func writeDirectly(
        _ entries: [EncodedEntry], _ removed: [GlobalID], _ context: NSManagedObjectContext
    ) throws {
        guard !entries.isEmpty || !removed.isEmpty else { return }
        let ids = entries.map(\.id.uuid) + removed.map(\.uuid)
        let request = NSFetchRequest<EntryObject>(entityName: "Entry")
        request.predicate = NSPredicate(format: "identifier IN %@", ids)
        request.returnsObjectsAsFaults = false
        var known = Dictionary(
            try context.fetch(request).map { ($0.identifier, $0) }, uniquingKeysWith: { first, _ in first })
        for id in removed {
            if let object = known.removeValue(forKey: id.uuid) { context.delete(object) }
        }
        for entry in entries {
            let object = known[entry.id.uuid] ?? EntryObject(context: context)
            object.identifier = entry.id.uuid
            (object.place, object.content) = (entry.place, entry.content)
            known[entry.id.uuid] = object
        }
    }

    // MARK: Many entries

    /// What a row of the redo log does.
    private enum Redo {
        static let remove: UInt8 = 0
        static let replace: UInt8 = 1
        static let insert: UInt8 = 2
    }

    /// The number of entries in a row of the redo log.
    private static let redoPortion = 5_000

    private func writeRedo(
        _ entries: [EncodedEntry], _ new: [EncodedEntry], _ removed: [GlobalID], _ context: NSManagedObjectContext
    ) throws {
        var number: Int64 = 0
        func add(_ writer: ByteWriter) {
            number += 1
            let row = RedoObject(context: context)
            (row.number, row.bytes) = (number, writer.asData)
        }
        func add(_ kind: UInt8, _ entries: [EncodedEntry]) {
            for start in stride(from: 0, to: entries.count, by: Self.redoPortion) {
                let some = entries[start..<min(entries.count, start + Self.redoPortion)]
                var writer = ByteWriter(reserving: some.count * 64)
                writer.byte(kind)
                writer.varint(some.count)
                for entry in some { entry.write(to: &writer) }
                add(writer)
            }
        }
        if !removed.isEmpty {
            var writer = ByteWriter(reserving: removed.count * 16 + 8)
            writer.byte(Redo.remove)
            writer.varint(removed.count)
            for id in removed { writer.identifier(id) }
            add(writer)
        }
        add(Redo.insert, new)
        add(Redo.replace, entries)
    }

    /// Moves the redo log into the entries. Doing it twice changes nothing.
    ///
    /// - Parameters:
    ///   - isFirst: whether none of the log has been moved yet: then new entries need not be looked for.
    ///   - isWriting: whether the caller writes; a reader leaves the log to the process that writes.
    func finishRedo(_ context: NSManagedObjectContext, isFirst: Bool = false, isWriting: Bool = false) throws {
        guard hasRedo, isExclusive || isWriting else { return }
        let request = NSFetchRequest<RedoObject>(entityName: "Redo")
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        let rows = try context.fetch(request)
        var leaving: [GlobalID] = []
        for row in rows { leaving += try redo(row.bytes, isFirst: isFirst, context) }
        for row in rows { context.delete(row) }
        if !rows.isEmpty {
            var directory = try directory(context)
            try removeFromBlocks(leaving, &directory, context)
            try context.save()
            blockDirectory = directory
        }
        context.reset()
        hasRedo = false
    }

    private func remove(_ ids: [GlobalID], _ context: NSManagedObjectContext) throws {
        for start in stride(from: 0, to: ids.count, by: Self.shortList) {
            let some = ids[start..<min(ids.count, start + Self.shortList)].map(\.uuid)
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Entry")
            request.predicate = NSPredicate(format: "identifier IN %@", some)
            try context.execute(NSBatchDeleteRequest(fetchRequest: request))
        }
    }

    /// - Returns: the entries that leave their blocks.
    private func redo(_ bytes: Data, isFirst: Bool, _ context: NSManagedObjectContext) throws -> [GlobalID] {
        var reader = ByteReader(bytes)
        let kind = try reader.byte()
        let count = try reader.count(ofSize: 16)
        var ids: [GlobalID] = []
        if kind == Redo.remove {
            for _ in 0..<count { ids.append(try reader.identifier()) }
            try remove(ids, context)
            return ids
        }
        if kind == Redo.replace || !isFirst {
            var entries = reader
            for _ in 0..<count { ids.append(try EncodedEntry(from: &entries).id) }
            try remove(ids, context)
        }
        try insert(reader, count, context)
        return ids
    }

    private func insert(_ entries: ByteReader, _ count: Int, _ context: NSManagedObjectContext) throws {
        var reader = entries
        var left = count
        let request = try NSBatchInsertRequest(
            \EntryObject.identifier, \EntryObject.place, \EntryObject.content, entityName: "Entry"
        ) { () throws -> (UUID, Int64, Data)? in
            guard left > 0 else { return nil }
            left -= 1
            let entry = try EncodedEntry(from: &reader)
            return (entry.id.uuid, entry.place, entry.content)
        }
        try context.execute(request)
    }
}
