import SwiftData

// The same entities twice: as models here, as managed objects in ManagedObjects.swift.

@Model final class Note {
    var title: String
    var stars = 0
    var weight = 1.0
    var isDone = false
    var folder: Folder?

    init(title: String, stars: Int, weight: Double, isDone: Bool, folder: Folder?) {
        self.title = title
        self.stars = stars
        self.weight = weight
        self.isDone = isDone
        self.folder = folder
    }
}

@Model final class Folder {
    var name: String
    @Relationship(inverse: \Note.folder) var notes: [Note] = []

    init(name: String) { self.name = name }
}

@Model final class Entry {
    var title: String
    var mood = Mood.calm

    init(title: String, mood: Mood) {
        self.title = title
        self.mood = mood
    }
}

/// An enumeration with a raw value, which is an attribute of its own.
enum Mood: Int, Codable {
    case calm, merry, grim
}
