import CoreData
import Foundation
import TestSupport

// The domain of the tests of generated predicates; every attribute that Swift reads as a scalar has a value.
//
//     Being: name, age, sagas ↔ Saga.writer
//       Poet: meter
//     Saga: title, subtitle, pages, rating, isLent, published, writer, labels ↔ Label.sagas
//     Label: word

class Being: NSManagedObject {
    static let nameKey = PropertyKey<String?>("name")
    static let ageKey = PropertyKey<Int64>("age")
    static let novelsKey = PropertyKey<Set<Saga>>("sagas")
    var name: String? {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
    var age: Int64 {
        get { self[Self.ageKey] }
        set { self[Self.ageKey] = newValue }
    }
    var sagas: Set<Saga> {
        get { self[Self.novelsKey] }
        set { self[Self.novelsKey] = newValue }
    }
}

final class Poet: Being {
    static let meterKey = PropertyKey<String?>("meter")
    var meter: String? {
        get { self[Self.meterKey] }
        set { self[Self.meterKey] = newValue }
    }
}

final class Saga: NSManagedObject {
    static let titleKey = PropertyKey<String?>("title")
    static let subtitleKey = PropertyKey<String?>("subtitle")
    static let pagesKey = PropertyKey<Int64>("pages")
    static let ratingKey = PropertyKey<Double>("rating")
    static let isLentKey = PropertyKey<Bool>("isLent")
    static let publishedKey = PropertyKey<Date?>("published")
    static let writerKey = PropertyKey<Being?>("writer")
    static let labelsKey = PropertyKey<Set<Label>>("labels")
    var title: String? {
        get { self[Self.titleKey] }
        set { self[Self.titleKey] = newValue }
    }
    var subtitle: String? {
        get { self[Self.subtitleKey] }
        set { self[Self.subtitleKey] = newValue }
    }
    var pages: Int64 {
        get { self[Self.pagesKey] }
        set { self[Self.pagesKey] = newValue }
    }
    var rating: Double {
        get { self[Self.ratingKey] }
        set { self[Self.ratingKey] = newValue }
    }
    var isLent: Bool {
        get { self[Self.isLentKey] }
        set { self[Self.isLentKey] = newValue }
    }
    var published: Date? {
        get { self[Self.publishedKey] }
        set { self[Self.publishedKey] = newValue }
    }
    var writer: Being? {
        get { self[Self.writerKey] }
        set { self[Self.writerKey] = newValue }
    }
    var labels: Set<Label> {
        get { self[Self.labelsKey] }
        set { self[Self.labelsKey] = newValue }
    }
}

final class Label: NSManagedObject {
    static let wordKey = PropertyKey<String?>("word")
    static let novelsKey = PropertyKey<Set<Saga>>("sagas")
    var word: String? {
        get { self[Self.wordKey] }
        set { self[Self.wordKey] = newValue }
    }
    var sagas: Set<Saga> {
        get { self[Self.novelsKey] }
        set { self[Self.novelsKey] = newValue }
    }
}

enum SagaModel {
    static func model() -> NSManagedObjectModel {
        let being = Library.entity("Being", "Being")
        let poet = Library.entity("Poet", "Poet")
        let saga = Library.entity("Saga", "Saga")
        let label = Library.entity("Label", "Label")
        being.subentities = [poet]
        let (writer, sagas) = Library.pair("writer", of: saga, "sagas", of: being)
        let (labels, labelled) = Library.pair("labels", of: saga, "sagas", of: label, toMany: true)
        being.properties = [
            Library.attribute("name", .stringAttributeType), number("age", .integer64AttributeType), sagas,
        ]
        poet.properties = [Library.attribute("meter", .stringAttributeType)]
        saga.properties = [
            Library.attribute("title", .stringAttributeType), Library.attribute("subtitle", .stringAttributeType),
            number("pages", .integer64AttributeType), number("rating", .doubleAttributeType),
            number("isLent", .booleanAttributeType), Library.attribute("published", .dateAttributeType), writer, labels,
        ]
        label.properties = [Library.attribute("word", .stringAttributeType), labelled]
        let model = NSManagedObjectModel()
        model.entities = [being, poet, saga, label]
        return model
    }

    private static func number(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = Library.attribute(name, type)
        attribute.defaultValue = NSNumber(value: 0)
        return attribute
    }

    /// Texts of several scripts, none of which has a character of more than one scalar.
    static let texts = ["", "a", "ab", "Abba", "é", "É", "straße", "STRASSE", "日本語", "ıI", "😀", "x%_*?y", "Ω"]

    /// Fills the context: 40 sagas by 6 beings with 4 labels.
    static func fill(_ context: NSManagedObjectContext, _ numbers: inout SeededNumbers) {
        var beings: [Being] = []
        for index in 0..<6 {
            let being: Being
            if index % 2 == 0 {
                let poet = Poet(context: context)
                poet.meter = numbers.chance(3) ? nil : numbers.pick(texts)
                being = poet
            } else {
                being = Being(context: context)
            }
            being.name = numbers.chance(4) ? nil : numbers.pick(texts)
            being.age = Int64(numbers.below(9)) - 3
            beings.append(being)
        }
        let labels = texts.prefix(4).map { word in
            let label = Label(context: context)
            label.word = word
            return label
        }
        for _ in 0..<40 {
            let saga = Saga(context: context)
            saga.title = numbers.chance(4) ? nil : numbers.pick(texts)
            saga.subtitle = numbers.chance(2) ? nil : numbers.pick(texts)
            saga.pages = Int64(numbers.below(12)) - 4
            saga.rating = Double(numbers.below(9)) / 2 - 2
            saga.isLent = numbers.chance(2)
            saga.published = numbers.chance(3) ? nil : Date(timeIntervalSinceReferenceDate: Double(numbers.below(5)))
            saga.writer = numbers.chance(5) ? nil : numbers.pick(beings)
            saga.labels = Set(labels.filter { _ in numbers.chance(3) })
        }
    }
}
