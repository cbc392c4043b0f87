import Foundation
import SwiftData
import Synchronization

// Versions of the models of a log, with relationships, for tests of migration plans.

enum LogV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Entry.self, Writer.self] }

    @Model final class Entry {
        var text: String
        var mood = "fine"
        var writer: Writer?
        init(text: String) { self.text = text }
    }

    @Model final class Writer {
        var name: String
        @Relationship(inverse: \Entry.writer) var entries: [Entry] = []
        init(name: String) { self.name = name }
    }
}

/// `text` is called `title`, and has a `length`.
enum LogV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Entry.self, Writer.self] }

    @Model final class Entry {
        @Attribute(originalName: "text") var title: String
        var mood = "fine"
        var length = 0
        var writer: Writer?
        init(title: String) { self.title = title }
    }

    @Model final class Writer {
        var name: String
        @Relationship(inverse: \Entry.writer) var entries: [Entry] = []
        init(name: String) { self.name = name }
    }
}

/// `title` is called `heading`.
enum LogV3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Entry.self, Writer.self] }

    @Model final class Entry {
        @Attribute(originalName: "title") var heading: String
        var mood = "fine"
        var length = 0
        var writer: Writer?
        init(heading: String) { self.heading = heading }
    }

    @Model final class Writer {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Entry.writer) var entries: [Entry] = []
        init(name: String) { self.name = name }
    }
}

/// Before the first version: no moods, no writers.
enum LogV0: VersionedSchema {
    static let versionIdentifier = Schema.Version(0, 9, 0)
    static var models: [any PersistentModel.Type] { [Entry.self] }

    @Model final class Entry {
        var text: String
        init(text: String) { self.text = text }
    }
}

/// Beside all of them: with something that none has.
enum LogOther: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 1)
    static var models: [any PersistentModel.Type] { [Entry.self] }

    @Model final class Entry {
        var text: String
        var weather = "rain"
        init(text: String) { self.text = text }
    }
}

/// The same models as in the first version.
enum LogV1Again: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 1, 0)
    static var models: [any PersistentModel.Type] { LogV1.models }
}

/// A frozen entry that refers to the writer of a later version.
enum LogLive: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Entry.self, LogV1.Writer.self] }

    @Model final class Entry {
        var text: String
        var writer: LogV3.Writer?
        init(text: String) { self.text = text }
    }
}

/// Notes what migrations do, by the store's text.
enum LogEvents {
    private static let events = Mutex<[String: [String]]>([:])
    static func add(_ event: String, of story: String) { events.withLock { $0[story, default: []].append(event) } }
    static func all(of story: String) -> [String] { events.withLock { $0[story] ?? [] } }
}
