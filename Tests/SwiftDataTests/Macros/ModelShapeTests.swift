import Foundation
import SwiftData
import Synchronization
import Testing

/// The metadata that the macro derives from the shapes, and what the accessors do before insertion.
@Suite struct ModelShapeTests {
    private static func names(_ type: any PersistentModel.Type) -> [String] { type.schemaMetadata.map(\.name) }

    private static func metadata<T>(_ type: any PersistentModel.Type, _ name: String, as: T.Type = T.self) -> T? {
        type.schemaMetadata.first { $0.name == name }?.metadata as? T
    }

    private static func value(_ type: any PersistentModel.Type, _ name: String) -> Any? {
        type.schemaMetadata.first { $0.name == name }?.defaultValue
    }

    // MARK: Which properties

    static let persisted: [(any PersistentModel.Type, [String])] = [
        (ShapeTimestamp.self, ["timestamp"]),
        (
            ShapeDefaults.self,
            ["id", "name", "count", "ratio", "isOn", "created", "changed", "note", "tags", "scores", "letters"]
        ),
        (ShapeScalars.self, ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"]),
        (ShapeLeftAlone.self, ["firstName", "lastName"]),
        (ShapeDecorated.self, ["id", "photo", "title", "oldTitle", "position", "color", "plain", "secret", "hint"]),
        (
            ShapeNames.self,
            [
                "default", "class", "type", "measure", "value", "newValue", "keyPath", "metadata", "backingData",
                "_private",
            ]
        ),
        (ShapeIndexed.self, ["code", "shelf", "place", "SwiftData.Schema.Index", "SwiftData.Schema.Unique"]),
        (ShapePlace.self, ["name", "latitude", "longitude", "SwiftData.Schema.Index"]),
        (ShapeConforming.self, ["isbn"]),
        (ShapeRawValue.self, ["moodValue"]),
        (ShapeValues.self, ["home", "work", "others", "byName", "source"]),
        (ShapeEmpty.self, []),
        (ShapeByProtocol.self, ["name"]),
        (ShapeFolder.self, ["name", "parent", "children"]),
        (ShapeSchemaV1.Person.self, ["name", "pets"]),
        (ShapeSchemaV2.Person.self, ["fullName", "pets", "SwiftData.Schema.Unique"]),
        (ShapeVehicle.self, ["name"]),
        (ShapeCar.self, ["fuel", "trailer"]),
        (ShapeTaxi.self, ["licence", "SwiftData.Schema.Index"]),
        (ShapeOpened.self, ["size"]),
    ]

    @Test(arguments: persisted.indices)
    func metadataNamesOwnPersistedPropertiesInOrder(index: Int) {
        let (type, names) = Self.persisted[index]
        #expect(Self.names(type) == names)
    }

    @Test func keyPathsAreThoseThatProgramsWrite() {
        #expect(ShapeDefaults.schemaMetadata[1].keypath == \ShapeDefaults.name)
        #expect(ShapeNames.schemaMetadata[0].keypath == \ShapeNames.default)
        #expect(ShapeSchemaV1.Person.schemaMetadata[0].keypath == \ShapeSchemaV1.Person.name)
        #expect(ShapeSchemaV2.Person.schemaMetadata[0].keypath == \ShapePerson.fullName)
        #expect(ShapeSchemaV1.Pet.schemaMetadata[1].keypath != \ShapeSchemaV2.Pet.owner)
        #expect(ShapeTaxi.schemaMetadata[0].keypath == \ShapeTaxi.licence)
    }

    /// Through the existential, as a schema asks.
    @Test func subclassAnswersForItself() {
        let types: [any PersistentModel.Type] = [ShapeVehicle.self, ShapeCar.self, ShapeTaxi.self]
        #expect(types.map { $0.schemaMetadata[0].name } == ["name", "fuel", "licence"])
    }

    // MARK: Initial values

    @Test func initialValuesAreDefaults() {
        let type = ShapeInitialValues.self
        #expect(Self.value(type, "priority") as? ShapeInitialValues.Priority == .medium)
        #expect(Self.value(type, "optionalPriority") as? ShapeInitialValues.Priority == .high)
        #expect(Self.value(type, "qualified") as? ShapeInitialValues.Priority == .low)
        #expect(Self.value(type, "size") as? ShapeInitialValues.Size == .init())
        #expect(Self.value(type, "date") as? Date == .distantPast)
        #expect(Self.value(type, "negative") as? Int == -1)
        #expect(Self.value(type, "sum") as? Int == 7)
        #expect(Self.value(type, "name") as? String == "Untitled")
        #expect(Self.value(type, "called") as? Int == 6)
        #expect(["a", "b"].contains(Self.value(type, "chosen") as? String))
        #expect((Self.value(type, "list") as? [ShapeInitialValues.Size])?.count == 2)
        #expect(Self.value(type, "raw") as? String == #"a "quoted" \ string"#)
    }

    @Test func nilAndNoValueAreNoDefault() {
        for name in ["changed", "note"] { #expect(Self.value(ShapeDefaults.self, name) == nil, "\(name)") }
        #expect(Self.value(ShapeTimestamp.self, "timestamp") == nil)
        #expect(Self.value(ShapeDefaults.self, "tags") as? [String] == [])
    }

    // MARK: Markers

    @Test func attributeOptionsAreKept() throws {
        let id = try #require(Self.metadata(ShapeDecorated.self, "id", as: Schema.Attribute.self))
        #expect(id.isUnique)
        let photo = try #require(Self.metadata(ShapeDecorated.self, "photo", as: Schema.Attribute.self))
        #expect(photo.options == [.externalStorage])
        #expect(photo.originalName == "image")
        let title = try #require(Self.metadata(ShapeDecorated.self, "title", as: Schema.Attribute.self))
        #expect(title.options == [.spotlight, .preserveValueOnDeletion])
        #expect(title.originalName == "caption")
        #expect(Self.metadata(ShapeDecorated.self, "plain", as: Schema.Attribute.self)?.options == [])
        #expect(Self.metadata(ShapeDecorated.self, "secret", as: Schema.Attribute.self) == nil)
    }

    @Test func relationshipOptionsAreKept() throws {
        let stops = try #require(Self.metadata(ShapeTrip.self, "stops", as: Schema.Relationship.self))
        #expect(stops.deleteRule == .cascade)
        #expect(stops.inverseKeyPath == \ShapeStop.trip)
        let tags = try #require(Self.metadata(ShapeNote.self, "tags", as: Schema.Relationship.self))
        #expect(tags.deleteRule == .nullify)
        #expect(tags.inverseKeyPath == \ShapeTag.notes)
        #expect(Self.metadata(ShapeTag.self, "notes", as: Schema.Relationship.self) == nil)
        let pets = try #require(Self.metadata(ShapeSchemaV2.Person.self, "pets", as: Schema.Relationship.self))
        #expect(pets.inverseKeyPath == \ShapeSchemaV2.Pet.owner)
    }

    @Test func constraintsAndIndexesAreKept() throws {
        let unique = try #require(
            Self.metadata(ShapeIndexed.self, "SwiftData.Schema.Unique", as: Schema.Unique<ShapeIndexed>.self))
        #expect(unique.constraints == [[\.code], [\.shelf, \.place]])
        let index = try #require(
            Self.metadata(ShapePlace.self, "SwiftData.Schema.Index", as: Schema.Index<ShapePlace>.self))
        let kinds = index.indices.map { kind -> (String, Int) in
            switch kind {
            case .binary(let paths): ("binary", paths.count)
            case .rtree(let paths): ("rtree", paths.count)
            }
        }
        #expect(kinds.map(\.0) == ["binary", "rtree"])
        #expect(kinds.map(\.1) == [1, 2])
    }

    // MARK: Before insertion

    /// A model works as a plain object (B4).
    @Test func valuesAreReadBack() throws {
        let initial = ShapeInitialValues()
        #expect(initial.priority == .medium)
        #expect(initial.called == 6)
        initial.priority = .low
        initial.size.width = 5
        #expect(initial.priority == .low)
        #expect(initial.size == .init(width: 5, height: 1))

        let names = ShapeNames(type: "t")
        names.newValue += 1
        #expect((names.value, names.newValue, names.default) == (0, 2, 1))
        #expect(names.class == "t")

        let plain = ShapeLeftAlone(firstName: "Ada", lastName: "Lovelace")
        #expect(plain.fullName == "Ada Lovelace")
        #expect(plain.words.count == 2)
        #expect(plain.uses == 1)

        let taxi = ShapeTaxi(licence: "B 1")
        taxi.rename("Cab")
        #expect([taxi.licence, taxi.name, taxi.fuel.rawValue] == ["B 1", "Cab", "diesel"])

        let assigned = try ShapeInitializers(a: 2)
        #expect(assigned.a == 2)
        #expect(assigned.b == "2x")
        #expect(assigned.c == [2, 1])
        #expect(throws: CocoaError.self) { try ShapeInitializers(a: -1) }

        let author = ShapeAuthor(name: "a", home: ShapeTag(name: "b"))
        let note = ShapeNote(text: "t", authors: [author])
        #expect(note.authors.first === author)
        #expect(note.authors.first?.home.name == "b")
    }

    // MARK: Observation

    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func increment() { count.withLock { $0 += 1 } }
    }

    @Test func observersAreNotifiedOfThePropertiesThatTheyRead() {
        let car = ShapeCar(name: "a", fuel: .petrol)
        let counter = Counter()
        car.fuel = .diesel
        withObservationTracking {
            _ = car.fuel
            _ = car.name
        } onChange: {
            counter.increment()
        }
        car.trailer = ShapeTrailer(load: 1)
        #expect(counter.value == 0)
        car.name = "b"
        #expect(counter.value == 1)
        car.name = "c"
        #expect(counter.value == 1, "tracking ends with the first change")

        withObservationTracking {
            _ = car.fuel
        } onChange: {
            counter.increment()
        }
        car.fuel = .petrol
        #expect(counter.value == 2)
    }

    /// What a context does when it refreshes an object.
    @Test func changesOfAnyKeyPathAreNotified() {
        let car = ShapeCar(name: "a", fuel: .petrol)
        let counter = Counter()
        var changes = 0
        for keyPath: AnyKeyPath in [\ShapeVehicle.name, \ShapeCar.fuel, \ShapeCar.trailer] {
            withObservationTracking {
                _ = car.name
                _ = car.fuel
            } onChange: {
                counter.increment()
            }
            (car as ShapeVehicle)._withMutation(of: keyPath) { changes += 1 }
        }
        #expect(counter.value == 2)
        #expect(changes == 3)
    }

    @Test func modelsSayThatTheyAreNotSendable() {
        #expect((ShapeTimestamp(timestamp: .now) as Any) is any Observable)
        #expect(ShapeByProtocol(name: "a").name == "a")
        let models = [ShapeByProtocol(name: "a")]
        ShapeRepository(type: ShapeByProtocol.self).rename(models, \.name)
        #expect(models[0].name == "a!")
    }
}
