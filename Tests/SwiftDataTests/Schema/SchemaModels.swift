import Foundation
import SwiftData

// Models whose accessors are written by hand, as far as layouts and schemas need them.

final class Recipe: PersistentModel, HandWritten {
    var persistentBackingData: any BackingData<Recipe>
    init(backingData: any BackingData<Recipe>) { persistentBackingData = backingData }

    var name: String { getValue(forKey: \.name) }
    var isGood: Bool { getValue(forKey: \.isGood) }
    var isQuick: Bool { getValue(forKey: \.isQuick) }
    var glass: Glass? { getValue(forKey: \.glass) }
    var place: Place? { getValue(forKey: \.place) }
    var author: Author { getValue(forKey: \.author) }
    var parts: [Part] { getValue(forKey: \.parts) }
    var cook: Cook? { getValue(forKey: \.cook) }
    var loud: String { name + "!" }
    var isBad: Bool { !isGood }

    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(
                name: "name", keypath: \Recipe.name, defaultValue: "Soup",
                metadata: Schema.Attribute(.unique, originalName: "title")),
            .init(name: "isGood", keypath: \Recipe.isGood, defaultValue: true),
            .init(name: "isQuick", keypath: \Recipe.isQuick),
            .init(name: "glass", keypath: \Recipe.glass, defaultValue: Glass.coupe),
            .init(name: "place", keypath: \Recipe.place, defaultValue: Place?.none as Any?),
            .init(name: "author", keypath: \Recipe.author, defaultValue: Author(person: "Ann")),
            .init(name: "parts", keypath: \Recipe.parts, metadata: Schema.Relationship(deleteRule: .cascade)),
            .init(name: "cook", keypath: \Recipe.cook),
            .init(
                name: "SwiftData.Schema.Index", keypath: \Schema.encodingVersion,
                metadata: Schema.Index<Recipe>([\.name], [\.name, \.isGood], [\.glass])),
            .init(
                name: "SwiftData.Schema.Unique", keypath: \Schema.encodingVersion,
                metadata: Schema.Unique<Recipe>([\.isGood, \.isQuick])),
        ]
    }
}

class Part: PersistentModel, HandWritten {
    var persistentBackingData: any BackingData<Part>
    required init(backingData: any BackingData<Part>) { persistentBackingData = backingData }

    var label: String { getValue(forKey: \.label) }
    var count: Int { getValue(forKey: \.count) }
    var recipe: Recipe? { getValue(forKey: \.recipe) }

    class var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "label", keypath: \Part.label),
            .init(name: "count", keypath: \Part.count, defaultValue: 1),
            .init(name: "recipe", keypath: \Part.recipe),
        ]
    }
}

/// A part of its own entity, below that of parts.
final class Spice: Part {
    var heat: Int { getValue(forKey: \.heat) }

    override class var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "heat", keypath: \Spice.heat)] }
}

final class Cook: PersistentModel, HandWritten {
    var persistentBackingData: any BackingData<Cook>
    init(backingData: any BackingData<Cook>) { persistentBackingData = backingData }

    var name: String { getValue(forKey: \.name) }
    var home: Author? { getValue(forKey: \.home) }
    var friends: [Cook] { getValue(forKey: \.friends) }
    var boss: Cook? { getValue(forKey: \.boss) }
    var staff: [Cook]? { getValue(forKey: \.staff) }

    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Cook.name, defaultValue: ""),
            .init(name: "home", keypath: \Cook.home),
            .init(name: "friends", keypath: \Cook.friends),
            .init(name: "boss", keypath: \Cook.boss, metadata: Schema.Relationship(inverse: \Cook.staff)),
            .init(name: "staff", keypath: \Cook.staff, metadata: Schema.Relationship(deleteRule: .deny)),
        ]
    }
}

/// Two relationships to one class, and one that cannot be inferred.
final class Shelf: PersistentModel, HandWritten {
    var persistentBackingData: any BackingData<Shelf>
    init(backingData: any BackingData<Shelf>) { persistentBackingData = backingData }

    var left: [Jar] { getValue(forKey: \.left) }
    var right: [Jar] { getValue(forKey: \.right) }
    var lamp: Lamp? { getValue(forKey: \.lamp) }

    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "left", keypath: \Shelf.left), .init(name: "right", keypath: \Shelf.right),
            .init(name: "lamp", keypath: \Shelf.lamp),
        ]
    }
}

final class Jar: PersistentModel, HandWritten {
    var persistentBackingData: any BackingData<Jar>
    init(backingData: any BackingData<Jar>) { persistentBackingData = backingData }

    var shelf: Shelf? { getValue(forKey: \.shelf) }

    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "shelf", keypath: \Jar.shelf)] }
}

final class Lamp: PersistentModel, HandWritten {
    var persistentBackingData: any BackingData<Lamp>
    init(backingData: any BackingData<Lamp>) { persistentBackingData = backingData }

    var shelf: Shelf { getValue(forKey: \.shelf) }

    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "shelf", keypath: \Lamp.shelf)] }
}

/// A constraint and an index over an enumeration.
final class Drawer: UnreadModel, PersistentModel {
    var persistentBackingData: any BackingData<Drawer>
    init(backingData: any BackingData<Drawer>) { persistentBackingData = backingData }

    var glass: Glass { unread() }
    var number: Int { unread() }
    var x: Double { unread() }
    var y: Double { unread() }
    var photo: Data? { unread() }
    var cached: Int { unread() }

    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "glass", keypath: \Drawer.glass),
            .init(name: "number", keypath: \Drawer.number, defaultValue: 7),
            .init(name: "x", keypath: \Drawer.x), .init(name: "y", keypath: \Drawer.y),
            .init(
                name: "photo", keypath: \Drawer.photo,
                metadata: Schema.Attribute(.externalStorage, .preserveValueOnDeletion, .spotlight, hashModifier: "2")),
            .init(
                name: "cached", keypath: \Drawer.cached, defaultValue: 0, metadata: Schema.Attribute(.ephemeral)),
            .init(
                name: "SwiftData.Schema.Index", keypath: \Schema.encodingVersion,
                metadata: Schema.Index<Drawer>(.binary([\.glass, \.number]), .rtree([\.x, \.y]))),
            .init(
                name: "SwiftData.Schema.Unique", keypath: \Schema.encodingVersion,
                metadata: Schema.Unique<Drawer>([\.glass, \.number])),
        ]
    }
}
