import Foundation
import SwiftData

// Models with relationships, nested in schemas, and below other models.

/// One to many with a rule, the inverse inferred on the other side.
@Model final class ShapeTrip {
    var name: String
    var start: Date
    @Relationship(deleteRule: .cascade, inverse: \ShapeStop.trip)
    var stops: [ShapeStop] = []
    @Relationship(deleteRule: .cascade, inverse: \ShapeStay.trip) var stay: ShapeStay?

    init(name: String, start: Date = .now) {
        self.name = name
        self.start = start
    }
}

@Model final class ShapeStop {
    var title: String
    var trip: ShapeTrip?

    init(title: String, trip: ShapeTrip? = nil) {
        self.title = title
        self.trip = trip
    }
}

@Model final class ShapeStay {
    var address: String
    var trip: ShapeTrip?
    init(address: String) { self.address = address }
}

/// Many to many, optional collections.
@Model final class ShapeNote {
    var text: String
    @Relationship(inverse: \ShapeTag.notes) var tags: [ShapeTag]? = []
    @Relationship(
        deleteRule: .deny, minimumModelCount: 1, maximumModelCount: 3, originalName: "writers",
        inverse: \ShapeAuthor.notes, hashModifier: "a")
    var authors: [ShapeAuthor]

    init(text: String, authors: [ShapeAuthor]) {
        self.text = text
        self.authors = authors
    }
}

@Model final class ShapeTag {
    @Attribute(.unique) var name: String
    var notes: [ShapeNote]?
    init(name: String) { self.name = name }
}

@Model final class ShapeAuthor {
    var name: String
    var notes: [ShapeNote] = []
    /// A relationship without an inverse, and one that must have a value.
    @Relationship(deleteRule: .noAction) var favourite: ShapeTag?
    var home: ShapeTag

    init(name: String, home: ShapeTag) {
        self.name = name
        self.home = home
    }

    var count: Int { notes.count + (favourite == nil ? 0 : 1) }
}

/// A tree.
@Model final class ShapeFolder {
    var name: String
    var parent: ShapeFolder?
    @Relationship(deleteRule: .cascade, inverse: \ShapeFolder.parent) var children: [ShapeFolder] = []

    init(name: String, parent: ShapeFolder? = nil) {
        self.name = name
        self.parent = parent
    }

    var depth: Int { (parent?.depth ?? -1) + 1 }
    func add(_ name: String) -> ShapeFolder {
        let folder = ShapeFolder(name: name)
        children.append(folder)
        return folder
    }
}

/// Versions of a schema, with the classes of each nested.
enum ShapeSchemaV1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Person.self, Pet.self] }
    static let versionIdentifier = Schema.Version(1, 0, 0)

    @Model final class Person {
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Pet.owner) var pets: [Pet] = []
        init(name: String) { self.name = name }
    }

    @Model final class Pet {
        var name: String
        var owner: Person?
        init(name: String) { self.name = name }
    }
}

enum ShapeSchemaV2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Person.self, Pet.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
}

extension ShapeSchemaV2 {
    @Model final class Person {
        #Unique<ShapeSchemaV2.Person>([\.fullName])
        @Attribute(originalName: "name") var fullName: String
        @Relationship(inverse: \ShapeSchemaV2.Pet.owner) var pets: [ShapeSchemaV2.Pet] = []
        init(fullName: String) { self.fullName = fullName }
    }

    @Model final class Pet {
        var name: String
        var owner: Person?
        init(name: String) { self.name = name }
    }
}

typealias ShapePerson = ShapeSchemaV2.Person

/// Three levels of classes.
@Model class ShapeVehicle {
    var name: String
    var wheels: Int { 0 }
    init(name: String) { self.name = name }
    func rename(_ name: String) { self.name = name }
}

@Model class ShapeCar: ShapeVehicle {
    enum Fuel: String, Codable { case petrol, diesel }
    var fuel: Fuel = .petrol
    @Relationship(inverse: \ShapeTrailer.car) var trailer: ShapeTrailer?
    override var wheels: Int { 4 }

    init(name: String, fuel: Fuel) {
        self.fuel = fuel
        super.init(name: name)
    }
}

@available(macOS 26, iOS 26, *)
@Model final class ShapeTaxi: ShapeCar {
    #Index<ShapeTaxi>([\.licence])
    var licence: String

    init(licence: String) {
        self.licence = licence
        super.init(name: "Taxi", fuel: .diesel)
    }
}

@Model final class ShapeTrailer {
    var load: Double
    var car: ShapeCar?
    init(load: Double) { self.load = load }
}

/// For other modules to inherit from.
@Model open class ShapeOpen {
    public var name: String
    public init(name: String) { self.name = name }
}

@Model public final class ShapeOpened: ShapeOpen {
    public var size: Int
    public init(size: Int) {
        self.size = size
        super.init(name: "\(size)")
    }
}
