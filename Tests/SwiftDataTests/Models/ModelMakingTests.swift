import CoreData
import Foundation
import SwiftData
import Testing

/// What models are made with, and what of it stays, before and after a context has them.
@Suite struct ModelMakingTests {
    private func context() throws -> ModelContext {
        ModelContext(
            try ModelContainer(
                for: Parcel.self, Label.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    }

    /// Of each type, and nil: as it was set, before the model is inserted, afterwards, and read from the store.
    @Test func valuesOfEachTypeStayAsTheyWereSet() throws {
        let context = try context()
        let parcel = Parcel(code: "A1")
        parcel.fillEverything()
        #expect(parcel.everything == Parcel.filled)
        context.insert(parcel)
        #expect(parcel.everything == Parcel.filled)
        try context.save()
        let read = try #require(ModelContext(context.container).fetch(FetchDescriptor<Parcel>()).first)
        #expect(read.everything == Parcel.filled)
    }

    /// Optional values that are nil, and enumerations without a value.
    @Test func nilStaysNil() throws {
        let context = try context()
        let parcel = Parcel(code: "A1")
        parcel.fillEverything()
        (parcel.note, parcel.sent, parcel.secondSize) = (nil, nil, nil)
        context.insert(parcel)
        #expect(parcel.note == nil && parcel.sent == nil && parcel.secondSize == nil)
        try context.save()
        let read = try #require(ModelContext(context.container).fetch(FetchDescriptor<Parcel>()).first)
        #expect(read.note == nil && read.sent == nil && read.secondSize == nil && read.code == "A1")
        read.secondSize = .large
        #expect(read.secondSize == .large)
    }

    /// Initial values are evaluated for a model that a fetch makes, but the row's values are there.
    @Test func initialValuesDoNotHideTheRow() throws {
        let context = try context()
        let parcel = Parcel(code: "A1")
        parcel.count = 7
        parcel.size = .large
        context.insert(parcel)
        try context.save()
        let read = try #require(ModelContext(context.container).fetch(FetchDescriptor<Parcel>()).first)
        #expect(read.count == 7 && read.size == .large && !read.hasChanges)
        // The next new model has its initial values again.
        let next = Parcel(code: "A2")
        #expect(next.count == 1 && next.size == .small)
    }

    /// A model that an initial value makes while another is made for a row keeps its own values.
    @Test func modelsThatInitialValuesMakeKeepTheirs() throws {
        let context = try context()
        context.insert(Parcel(code: "A1"))
        try context.save()
        let read = try #require(ModelContext(context.container).fetch(FetchDescriptor<Parcel>()).first)
        #expect(read.sticker.text == "fragile" && read.sticker.modelContext == nil)
        context.insert(read.sticker)
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Label>()).map(\.text) == ["fragile"])
    }

    /// A stored raw value without a case reads as the initial value, one that may be nil as nil.
    @Test func strangeRawValuesReadAsTheInitialValue() throws {
        let context = try context()
        context.insert(Parcel(code: "A1"))
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Parcel")
        let object = try #require(context.managedObjectContext.fetch(request).first)
        object.setValue(["size": "huge"] as [String: Any], forKey: "size")
        object.setValue(["secondSize": "huge"] as [String: Any], forKey: "secondSize")
        let parcel = try #require(context.fetch(FetchDescriptor<Parcel>()).first)
        #expect(parcel.size == .small && parcel.secondSize == nil)
        parcel.size = .large
        #expect(parcel.size == .large)
    }
}

@Model final class Label {
    var text: String

    init(text: String) { self.text = text }
}

@Model final class Parcel {
    enum Size: String, Codable { case small, large }

    struct Everything: Equatable {
        var count: Int
        var short: Int16
        var weight: Double
        var width: Float
        var height: CGFloat
        var isSent: Bool
        var note: String?
        var made: Date
        var sent: Date?
        var number: UUID
        var photo: Data
        var size: Size
        var secondSize: Size?
    }

    static let filled = Everything(
        count: 3, short: 4, weight: 1.5, width: 2.5, height: 3.5, isSent: true, note: "left",
        made: Date(timeIntervalSinceReferenceDate: 10), sent: Date(timeIntervalSinceReferenceDate: 20),
        number: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), photo: Data([1, 2]), size: .large,
        secondSize: .small)

    var code: String
    var count = 1
    var short: Int16 = 0
    var weight = 0.0
    var width: Float = 0
    var height: CGFloat = 0
    var isSent = false
    var note: String?
    var made = Date(timeIntervalSinceReferenceDate: 0)
    var sent: Date?
    var number = UUID()
    var photo = Data()
    var size = Size.small
    var secondSize: Size?
    @Transient var sticker = Label(text: "fragile")

    init(code: String) { self.code = code }

    func fillEverything() { everything = Self.filled }

    var everything: Everything {
        get {
            Everything(
                count: count, short: short, weight: weight, width: width, height: height, isSent: isSent, note: note,
                made: made, sent: sent, number: number, photo: photo, size: size, secondSize: secondSize)
        }
        set {
            (count, short, weight, width, height) = (
                newValue.count, newValue.short, newValue.weight, newValue.width, newValue.height
            )
            (isSent, note, made, sent) = (newValue.isSent, newValue.note, newValue.made, newValue.sent)
            (number, photo, size, secondSize) = (
                newValue.number, newValue.photo, newValue.size, newValue.secondSize
            )
        }
    }
}
