import Foundation
import SwiftData

// Models of one class each, in the shapes that apps write. That they compile is the test; see ModelShapeTests for their metadata.

/// As a new project has it.
@Model
final class ShapeTimestamp {
    var timestamp: Date

    init(timestamp: Date) {
        self.timestamp = timestamp
    }
}

/// Everything has a value.
@Model final class ShapeDefaults {
    var id: UUID = UUID()
    var name: String = ""
    var count = 0
    var ratio = 0.5
    var isOn = false
    var created: Date = Date.now
    var changed: Date? = nil
    var note: String?
    var tags: [String] = []
    var scores: [String: Int] = [:]
    var letters: Set<String> = []

    init() {}
}

/// Types of attributes.
@Model final class ShapeScalars {
    var a: Int8
    var b: Int16?
    var c: Int32
    var d: Int64
    var e: UInt
    var f: Float
    var g: Decimal
    var h: Data?
    var i: URL?
    var j: Optional<Int>
    var k: String!
    var l: ClosedRange<Int>
    var m: [Int]
    var n: (any Error)? { nil }

    init(a: Int8, c: Int32, d: Int64, e: UInt, f: Float, g: Decimal, l: ClosedRange<Int>, m: [Int]) {
        (self.a, self.c) = (a, c)
        self.d = d
        self.e = e
        self.f = f
        self.g = g
        self.l = l
        self.m = m
    }
}

/// Initial values that need the property's type, or have a form of their own.
@Model final class ShapeInitialValues {
    enum Priority: Int, Codable, CaseIterable { case low, medium, high }
    struct Size: Codable, Hashable {
        var width = 1.0
        var height = 1.0
    }
    static let standardName = "Untitled"

    var priority: Priority = .medium
    var optionalPriority: Priority? = .high
    var qualified = Priority.low
    var size: Size = .init()
    var date: Date = .distantPast
    var negative = -1
    var sum = 1 + 2 * 3
    var text = UUID().uuidString + "\(Int.max)"
    var name: String = ShapeInitialValues.standardName
    var called: Int = {
        let values = [1, 2, 3]
        return values.reduce(0, +)
    }()
    var chosen: String = Bool.random() ? "a" : "b"  // a comment behind
    var list: [Size] = [
        Size(width: 1, height: 2),  // first
        Size(width: 2, height: 3),
    ]
    var raw = #"a "quoted" \ string"#

    init() {}
}

/// What stays as it is written.
@Model final class ShapeLeftAlone {
    static var instances: Int { 0 }
    static let limit = 10
    class var kind: String { "plain" }
    var firstName: String
    var lastName: String
    var fullName: String { firstName + " " + lastName }
    var initials: String {
        get { String(firstName.prefix(1) + lastName.prefix(1)) }
        set { firstName = newValue }
    }
    @Transient var isSelected = false
    @Transient var cache: [String: Int]? = nil
    @Transient var watcher: (() -> Void)?
    @SwiftData.Transient private(set) var uses: Int = 0 {
        didSet { cache = nil }
    }
    @Transient let formatter = NSObject()
    lazy var words: [String] = fullName.split(separator: " ").map(String.init)
    weak var owner: NSObject?

    init(firstName: String, lastName: String) {
        self.firstName = firstName
        self.lastName = lastName
        uses += 1
    }
}

/// Attributes, comments and modifiers in any place.
@Model
public final class ShapeDecorated: Identifiable {
    /// The identifier.
    @Attribute(.unique) public var id: String
    // A comment in between.
    @Attribute(.externalStorage, originalName: "image")
    public private(set) var photo: Data?
    @Attribute(.spotlight, .preserveValueOnDeletion, originalName: "caption", hashModifier: "2")
    public internal(set) var title: String = "none"  // behind
    @available(macOS 15, iOS 18, *)
    public var oldTitle: String?
    @Attribute(.ephemeral) var position: Int = 0
    @Attribute(
        .transformable(by: "ColorTransformer")  // by name
    ) var color: [Double] = []
    @Attribute var plain: Int
    private var secret: String?
    fileprivate var hint: String = ""
    @MainActor func show() -> String { title }

    public init(id: String, photo: Data? = nil) {
        self.id = id
        self.photo = photo
        plain = 1
    }

    public func rename(_ title: String) { self.title = title }
}

/// Names that need care.
@Model final class ShapeNames {
    var `default`: Int = 1
    var `class`: String
    var type: String
    var measure: Double
    var value: Int
    var newValue: Int
    var keyPath: String
    var metadata: String
    var backingData: Int
    var _private: Int

    init(type: String) {
        self.class = type
        self.type = type
        measure = 0
        value = 0
        newValue = 1
        keyPath = ""
        metadata = ""
        backingData = 0
        _private = 0
    }
}

/// Constraints and indexes.
@Model final class ShapeIndexed {
    #Unique<ShapeIndexed>([\.code], [\.shelf, \.place])
    #Index<ShapeIndexed>([\.shelf], [\.shelf, \.place])

    var code: String
    var shelf: String
    var place: Int

    init(code: String, shelf: String, place: Int) {
        self.code = code
        self.shelf = shelf
        self.place = place
    }
}

/// Indexes of kinds.
@Model final class ShapePlace {
    #Index<ShapePlace>(.binary([\.name]), .rtree([\.latitude, \.longitude]))

    var name: String
    var latitude: Double
    var longitude: Double

    init(_ name: String, latitude: Double, longitude: Double) {
        self.name = name
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// Codable by hand.
@Model final class ShapeCodable: Codable {
    enum CodingKeys: String, CodingKey {
        case name
        case amount = "quantity"
    }

    var name: String
    var amount: Int

    init(name: String, amount: Int) {
        self.name = name
        self.amount = amount
    }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        amount = try container.decodeIfPresent(Int.self, forKey: .amount) ?? 1
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(amount, forKey: .amount)
    }
}

/// Protocols of its own, and a `description` that is computed.
@Model final class ShapeConforming: CustomStringConvertible, Comparable {
    @Attribute(.unique) var isbn: String
    var description: String { "Book \(isbn)" }

    init(isbn: String) { self.isbn = isbn }

    convenience init?(_ text: Substring) {
        guard !text.isEmpty else { return nil }
        self.init(isbn: String(text))
    }

    static func < (a: ShapeConforming, b: ShapeConforming) -> Bool { a.isbn < b.isbn }
}

/// An enumeration beside the raw value that is kept.
@Model final class ShapeRawValue {
    enum Mood: String { case calm, merry }
    private var moodValue: String = Mood.calm.rawValue
    var mood: Mood {
        get { Mood(rawValue: moodValue) ?? .calm }
        set { moodValue = newValue.rawValue }
    }

    init(mood: Mood = .calm) { self.mood = mood }
}

/// Structures, and enumerations with values.
@Model final class ShapeValues {
    struct Address: Codable {
        var street: String
        var city: String?
    }
    enum Source: Codable {
        case none
        case file(name: String)
    }
    typealias Line = (Int, Int)

    var home: Address
    var work: Address?
    var others: [Address]
    var byName: [String: Address]
    var source: Source = .none

    init(home: Address) {
        self.home = home
        others = []
        byName = [:]
    }

    func move(to city: String) {
        home.city = city
        others.append(home)
        byName[city, default: home].street = ""
    }
}

/// Initializers that branch, delegate and assign twice.
@Model final class ShapeInitializers {
    var a: Int
    var b: String = "b"
    var c: [Int]

    init(a: Int?, c: [Int]) throws {
        if let a {
            self.a = a
        } else {
            self.a = 0
        }
        self.c = c
        self.c = c + [1]
        b = "\(self.a)"
        b += "x"
        try check()
    }

    convenience init(a: Int) throws { try self.init(a: a, c: [a]) }

    private func check() throws {
        if a < 0 { throw CocoaError(.validationNumberTooSmall) }
    }
}

/// Isolated to no actor, wherever the module's declarations are by default.
@Model nonisolated final class ShapeNonisolated {
    var name: String
    init(name: String) { self.name = name }
}

@available(macOS 15, iOS 18, *)
@Model final class ShapeAvailable {
    var name: String
    init(name: String) { self.name = name }
}

@Model private final class ShapePrivate {
    private var name: String
    init(name: String) { self.name = name }
}

@Model package final class ShapePackage {
    package var name: String
    package init(name: String) { self.name = name }
}

/// No persisted property at all.
@Model final class ShapeEmpty {
    init() {}
}

/// Through a protocol that says it is a model.
nonisolated protocol ShapeNamed: PersistentModel {
    var name: String { get set }
}

@Model final class ShapeByProtocol: ShapeNamed {
    var name: String
    init(name: String) { self.name = name }
}

/// What users of models write.
struct ShapeRepository<T: ShapeNamed> {
    let type: T.Type
    func rename(_ models: [T], _ path: ReferenceWritableKeyPath<T, String>) {
        for model in models { model[keyPath: path] += "!" }
    }
}

func shapePredicates(_ minimum: Int) -> (Predicate<ShapeCodable>, [SortDescriptor<ShapeCodable>]) {
    (
        #Predicate { $0.amount > minimum && $0.name.contains("a") },
        [SortDescriptor(\.name), SortDescriptor(\ShapeCodable.amount, order: .reverse)]
    )
}
