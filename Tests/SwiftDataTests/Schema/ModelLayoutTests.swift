import CoreData
import Foundation
import Testing

@testable import SwiftData

@Suite struct ModelLayoutTests {
    @Test func layoutHasTheClassesPropertiesInOrder() {
        let layout = ModelLayout.of(Recipe.self)
        #expect(layout.entityName == "Recipe")
        #expect(
            layout.properties.map(\.name)
                == ["name", "isGood", "isQuick", "glass", "place", "author", "parts", "cook"])
        #expect(layout.properties.map(\.index) == Array(0..<8))
        #expect(layout.problem == nil)
        #expect(layout.property(named: "name")?.defaultValue as? String == "Soup")
        #expect(layout.property(named: "place")?.defaultValue == nil)
        #expect(layout.property(named: "parts")?.destination == Part.self)
        #expect(layout === ModelLayout.of(Recipe.self))
    }

    @Test func subclassHasItsOwnPropertiesAndFindsThoseAbove() {
        let layout = ModelLayout.of(Spice.self)
        #expect(layout.properties.map(\.name) == ["heat"])
        #expect(layout.superclass === ModelLayout.of(Part.self))
        #expect(layout.property(named: "label")?.index == 0)
        #expect(layout.allProperties.map(\.name) == ["label", "count", "recipe", "heat"])
    }

    /// Reference 6.2 to 6.4.
    @Test func keyPathsHaveNames() {
        let recipe = ModelLayout.of(Recipe.self)
        let expected: [(AnyKeyPath, String?)] = [
            (\Recipe.name, "name"), (\Recipe.isQuick, "isQuick"), (\Recipe.glass, "glass"),
            (\Recipe.place?.street, "place.street"), (\Recipe.place?.geo.x, "place.geo.x"),
            (\Recipe.place?.geo.y, "place.geo.y"), (\Recipe.place?.geo, "place.geo"),
            (\Recipe.author.person, "author.person"), (\Recipe.author.year, "author.year"),
            (\Recipe.glass?.rawValue, "glass.glass"), (\Recipe.cook?.name, "cook.name"),
            (\Recipe.cook?.home?.person, "cook.home.person"), (\Recipe.cook?.boss?.name, "cook.boss.name"),
            (\Recipe.cook, "cook"), (\Recipe.loud, nil), (\Recipe.isBad, nil), (\Recipe.name.count, nil),
            (\Recipe.parts.count, nil),
        ]
        for (keyPath, name) in expected {
            #expect(recipe.name(of: keyPath) == name, "\(keyPath) \(name ?? "nil")")
            #expect(recipe.name(of: keyPath) == name)
        }
    }

    @Test func inheritedKeyPathsHaveNames() {
        let spice = ModelLayout.of(Spice.self)
        #expect(spice.name(of: \Spice.heat) == "heat")
        #expect(spice.name(of: \Spice.label) == "label")
        #expect(spice.name(of: \Spice.count) == "count")
        #expect(spice.name(of: \Spice.recipe) == "recipe")
        #expect(spice.name(of: \Part.label) == "label")
        #expect(spice.name(of: \Spice.recipe?.name) == "recipe.name")
    }

    /// B6.
    @Test func inversesAreInferredWhereThereIsOneCandidate() {
        func inverse(_ type: any PersistentModel.Type, _ name: String) -> String? {
            ModelLayout.of(type).property(named: name)?.inverse
        }
        #expect(inverse(Recipe.self, "parts") == "recipe")
        #expect(inverse(Part.self, "recipe") == "parts")
        #expect(inverse(Recipe.self, "cook") == nil)
        #expect(inverse(Cook.self, "boss") == "staff")
        #expect(inverse(Cook.self, "staff") == "boss")
        #expect(inverse(Cook.self, "friends") == nil)
        #expect(inverse(Shelf.self, "left") == nil)
        #expect(inverse(Jar.self, "shelf") == nil)
        #expect(inverse(Lamp.self, "shelf") == nil)
        #expect(inverse(Shelf.self, "lamp") == nil)
    }

    final class Odd: PersistentModel, HandWritten {
        var persistentBackingData: any BackingData<Odd>
        init(backingData: any BackingData<Odd>) { persistentBackingData = backingData }
        final class Photo {}
        var photo: Photo { Photo() }
        static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "photo", keypath: \Odd.photo)] }
    }

    /// A13.
    @Test func propertyThatCannotBeStoredIsAProblem() {
        #expect(
            ModelLayout.of(Odd.self).problem?.hasPrefix("Odd.photo is of type Photo, which cannot be stored") == true)
        #expect(ModelLayout.of(Odd.self).properties.count == 1)
        #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try ModelContainer(for: Odd.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        }
    }

    /// Whose getters read as those that the macro writes.
    class Boat: PersistentModel, HandWritten {
        var values: DefaultBackingData<Boat>
        var persistentBackingData: any BackingData<Boat> {
            get { values }
            set { values = DefaultBackingData(adopting: newValue) }
        }
        required init(backingData: any BackingData<Boat>) { values = DefaultBackingData(adopting: backingData) }
        var name: String { values._read(_ModelKey("name"), 0) }
        var home: Author? { values._read(_ModelKey("home"), 1) }
        var lead: Boat? { values._read(_ModelKey("lead"), 2) }
        class var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "name", keypath: \Boat.name), .init(name: "home", keypath: \Boat.home),
                .init(name: "lead", keypath: \Boat.lead),
            ]
        }
    }

    final class Ship: Boat { override class var schemaMetadata: [Schema.PropertyMetadata] { [] } }

    @Test func namesAreFoundThroughAccessorsByIndex() {
        let ship = ModelLayout.of(Ship.self)
        #expect(ship.name(of: \Ship.name) == "name")
        #expect(ship.name(of: \Ship.home?.person) == "home.person")
        #expect(ship.name(of: \Ship.lead?.lead?.name) == "lead.lead.name")
        #expect(ship.name(of: \Ship.name.count) == nil)
    }
}
