import Foundation
import SwiftData

/// The models of the fetching tests.
enum Mood: String, Codable, CaseIterable { case calm, wild }

enum Shade: Codable, CaseIterable { case light, dark }

struct Address: Codable, Equatable {
    var city: String
    var street: String?
}

@Model
final class Trip {
    @Attribute(.unique) var code: String
    var name: String
    var country: String?
    var days: Int
    var start: Date
    var price: Decimal
    var isPaid: Bool
    var mood: Mood
    var shade: Shade?
    var address: Address
    @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
    var guide: Guide?
    /// Computed: no store has it.
    var label: String { "\(code) \(name)" }

    init(
        _ code: String, name: String, country: String? = nil, days: Int = 1, start: Double = 0, price: Decimal = 0,
        isPaid: Bool = false, mood: Mood = .calm, shade: Shade? = nil, address: Address = Address(city: "Oslo")
    ) {
        self.code = code
        self.name = name
        self.country = country
        self.days = days
        self.start = Date(timeIntervalSinceReferenceDate: start)
        self.price = price
        self.isPaid = isPaid
        self.mood = mood
        self.shade = shade
        self.address = address
    }
}

@Model
final class Stop {
    var place: String
    var nights: Int
    var trip: Trip?

    init(_ place: String, nights: Int = 1) {
        self.place = place
        self.nights = nights
    }
}

@Model
final class Guide {
    var name: String
    var boss: Guide?
    @Relationship(inverse: \Trip.guide) var trips: [Trip]? = []

    init(_ name: String, boss: Guide? = nil) {
        self.name = name
        self.boss = boss
    }
}

/// A store in memory with three trips.
struct Trips {
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try ModelContainer(
            for: Trip.self, Stop.self, Guide.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
        let head = Guide("Ann")
        let guide = Guide("Bea", boss: head)
        let fjords = Trip(
            "F", name: "Fjords", country: "Norway", days: 7, start: 100, price: 900, isPaid: true, mood: .wild,
            shade: .dark,
            address: Address(city: "Bergen", street: "Bryggen"))
        let lakes = Trip("L", name: "lakes 10", country: "Finland", days: 4, start: 200, price: 450.5, shade: .light)
        let city = Trip("C", name: "lakes 9", days: 2, start: 300, price: 120, isPaid: true)
        for trip in [fjords, lakes, city] { context.insert(trip) }
        fjords.guide = guide
        lakes.guide = head
        fjords.stops = [Stop("Flam", nights: 3), Stop("Bergen", nights: 2)]
        lakes.stops = [Stop("Kuopio", nights: 4)]
        try context.save()
    }

    /// The codes of the trips that satisfy the predicate, in the order of codes, from a context that has read nothing yet.
    func codes(_ predicate: Predicate<Trip>?) throws -> String {
        try ModelContext(container).fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.code)]))
            .map(\.code).joined()
    }
}
