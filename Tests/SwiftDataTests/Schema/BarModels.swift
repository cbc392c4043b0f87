import Foundation
import SwiftData

/// The models from which SwiftData made the entities of `composite-vectors.jsonl`: their properties, by what the stores have.
enum Bar {
    enum Ice: String, Codable { case cubed, crushed }
    enum Variation: String, Codable { case classic }
    enum Collection: Int, Codable { case home = 3 }
    enum Unit: String, Codable { case ounces = "oz" }

    struct Author: Codable {
        var id = UUID()
        var person: String
        var place: String?
        var year: String?
    }
    struct Tags: Codable {
        var flavors: [Ice]?
        var profiles: [String]?
        var styles: [String]?
        var booze: [Author]?
        var nA: [String]?
    }
    struct BuildOrder: Codable { var instructions: [Step] }
    struct Color: Codable {
        var linearRed: Float
        var linearGreen: Float
        var linearBlue: Float
        var opacity: Float
    }
    struct Prep: Codable {
        var id = UUID()
        var prepIngredientName: String
        var prepRecipe: [Step]
    }

    final class Cocktail: UnreadModel, PersistentModel {
        var persistentBackingData: any BackingData<Cocktail>
        init(backingData: any BackingData<Cocktail>) { persistentBackingData = backingData }

        var cocktailName: String { unread() }
        var glasswareType: Glass { unread() }
        var ice: Ice? { unread() }
        var id: UUID { unread() }
        var collectionName: String { unread() }
        var author: Author? { unread() }
        var compiledTags: Tags { unread() }
        var titleCocktail: Bool? { unread() }
        var variation: Variation? { unread() }
        var isCustomCocktail: Bool { unread() }
        var notes: String? { unread() }
        var buildOrder: BuildOrder? { unread() }
        var collection: Collection? { unread() }
        var variationName: String? { unread() }
        var imageAsset: CocktailImage? { unread() }
        var garnish: [Garnish] { unread() }
        var spec: [Ingredient] { unread() }

        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "cocktailName", keypath: \Cocktail.cocktailName, metadata: Schema.Attribute(.unique)),
                .init(name: "glasswareType", keypath: \Cocktail.glasswareType),
                .init(name: "ice", keypath: \Cocktail.ice), .init(name: "id", keypath: \Cocktail.id),
                .init(name: "collectionName", keypath: \Cocktail.collectionName),
                .init(name: "author", keypath: \Cocktail.author),
                .init(name: "compiledTags", keypath: \Cocktail.compiledTags),
                .init(name: "titleCocktail", keypath: \Cocktail.titleCocktail),
                .init(name: "variation", keypath: \Cocktail.variation),
                .init(name: "isCustomCocktail", keypath: \Cocktail.isCustomCocktail, defaultValue: false),
                .init(name: "notes", keypath: \Cocktail.notes),
                .init(name: "buildOrder", keypath: \Cocktail.buildOrder),
                .init(name: "collection", keypath: \Cocktail.collection),
                .init(name: "variationName", keypath: \Cocktail.variationName),
                .init(name: "imageAsset", keypath: \Cocktail.imageAsset),
                .init(name: "garnish", keypath: \Cocktail.garnish),
                .init(name: "spec", keypath: \Cocktail.spec, metadata: Schema.Relationship(deleteRule: .cascade)),
                .init(
                    name: "SwiftData.Schema.Index", keypath: \Schema.encodingVersion,
                    metadata: Schema.Index<Cocktail>(
                        [\.cocktailName], [\.collectionName], [\.cocktailName, \.collectionName])),
            ]
        }
    }

    final class CocktailImage: UnreadModel, PersistentModel {
        var persistentBackingData: any BackingData<CocktailImage>
        init(backingData: any BackingData<CocktailImage>) { persistentBackingData = backingData }

        var glassBackLayer: String { unread() }
        var innerRim: String { unread() }
        var drinkColor: Color { unread() }
        var drinkLayer: String { unread() }
        var glassReflection: String { unread() }
        var garnishes: [String]? { unread() }
        var straw: String? { unread() }
        var iceLayer: String? { unread() }
        var backgroundColor: Color { unread() }
        var inDrinkComponents: [String]? { unread() }

        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "glassBackLayer", keypath: \CocktailImage.glassBackLayer),
                .init(name: "innerRim", keypath: \CocktailImage.innerRim),
                .init(name: "drinkColor", keypath: \CocktailImage.drinkColor),
                .init(name: "drinkLayer", keypath: \CocktailImage.drinkLayer),
                .init(name: "glassReflection", keypath: \CocktailImage.glassReflection),
                .init(name: "garnishes", keypath: \CocktailImage.garnishes),
                .init(name: "straw", keypath: \CocktailImage.straw),
                .init(name: "iceLayer", keypath: \CocktailImage.iceLayer),
                .init(name: "backgroundColor", keypath: \CocktailImage.backgroundColor),
                .init(name: "inDrinkComponents", keypath: \CocktailImage.inDrinkComponents),
            ]
        }
    }

    final class Garnish: UnreadModel, PersistentModel {
        var persistentBackingData: any BackingData<Garnish>
        init(backingData: any BackingData<Garnish>) { persistentBackingData = backingData }

        var name: String { unread() }
        var cocktails: [Cocktail]? { unread() }

        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "name", keypath: \Garnish.name, metadata: Schema.Attribute(.unique)),
                .init(name: "cocktails", keypath: \Garnish.cocktails),
            ]
        }
    }

    final class Ingredient: UnreadModel, PersistentModel {
        var persistentBackingData: any BackingData<Ingredient>
        init(backingData: any BackingData<Ingredient>) { persistentBackingData = backingData }

        var id: UUID { unread() }
        var ingredientBase: IngredientBase { unread() }
        var value: Double { unread() }
        var unit: Unit { unread() }

        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "id", keypath: \Ingredient.id, defaultValue: UUID()),
                .init(name: "ingredientBase", keypath: \Ingredient.ingredientBase),
                .init(name: "value", keypath: \Ingredient.value), .init(name: "unit", keypath: \Ingredient.unit),
            ]
        }
    }

    final class IngredientBase: UnreadModel, PersistentModel {
        var persistentBackingData: any BackingData<IngredientBase>
        init(backingData: any BackingData<IngredientBase>) { persistentBackingData = backingData }

        var name: String { unread() }
        var prep: Prep? { unread() }
        var specialtyCategory: String { unread() }
        var id: UUID { unread() }
        var tags: Tags? { unread() }
        var umbrellaCategory: String { unread() }
        var baseCategory: String { unread() }
        var isCustom: Bool { unread() }
        var info: String? { unread() }

        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "name", keypath: \IngredientBase.name, metadata: Schema.Attribute(.unique)),
                .init(name: "prep", keypath: \IngredientBase.prep),
                .init(name: "specialtyCategory", keypath: \IngredientBase.specialtyCategory),
                .init(name: "id", keypath: \IngredientBase.id), .init(name: "tags", keypath: \IngredientBase.tags),
                .init(name: "umbrellaCategory", keypath: \IngredientBase.umbrellaCategory),
                .init(name: "baseCategory", keypath: \IngredientBase.baseCategory),
                .init(name: "isCustom", keypath: \IngredientBase.isCustom),
                .init(name: "info", keypath: \IngredientBase.info),
            ]
        }
    }
}
