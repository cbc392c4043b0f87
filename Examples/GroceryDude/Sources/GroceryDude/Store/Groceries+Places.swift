import CoreData
import Foundation
import LivePages

/// Why a unit or location cannot be deleted: items have it.
struct DeniedDeletion: Error {
    let name: String
    let noun: String
    /// By name.
    let items: [(number: Int, title: String)]
}

/// Why a name is not taken.
enum NameProblem: Error {
    case empty
    case tooLong
    case taken(String)

    var message: String {
        switch self {
        case .empty: "Type a name."
        case .tooLong: "That is too long: names have at most \(Groceries.longestName) characters."
        case .taken(let name): "There is “\(name)” already."
        }
    }
}

// Units and locations.
extension Groceries {
    nonisolated static let longestName = 100

    func name(of place: NSManagedObject, _ kind: PlaceKind) -> String { place.value(forKey: kind.key) as? String ?? "" }

    /// The place of that name, whatever its capitals: "KG" is "kg". Of several the one that is spelled exactly so, else the first.
    func place(_ kind: PlaceKind, named name: String) throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: kind.entityName)
        request.predicate = NSPredicate(format: "%K ==[c] %@", kind.key, name)
        let found = try view.fetch(request).sorted { $0.number < $1.number }
        return found.first { self.name(of: $0, kind) == name } ?? found.first
    }

    /// The place of that name, made where there is none; call it in `perform(_:_:)`.
    func findOrMakePlace(_ kind: PlaceKind, named name: String) throws -> NSManagedObject {
        if let place = try place(kind, named: name) { return place }
        let place = NSEntityDescription.insertNewObject(forEntityName: kind.entityName, into: view)
        place.setValue(name, forKey: kind.key)
        try view.obtainPermanentIDs(for: [place])
        return place
    }

    func addPlace(_ kind: PlaceKind, named text: String) throws -> Int? {
        let name = try checked(text, kind, besides: nil)
        return try perform("Add \(name)") { _ = try findOrMakePlace(kind, named: name) }.step
    }

    func rename(_ place: NSManagedObject, _ kind: PlaceKind, to text: String) throws -> Int? {
        let name = try checked(text, kind, besides: place)
        return try perform("Rename \(self.name(of: place, kind)) to \(name)") {
            place.setValue(name, forKey: kind.key)
        }.step
    }

    /// Deletes the place.
    ///
    /// - Throws: ``DeniedDeletion`` where items have it: the model's delete rule is Deny.
    func deletePlace(_ place: NSManagedObject, _ kind: PlaceKind) throws -> Int? {
        do { try place.validateForDelete() } catch let error as CocoaError
            where error.code.rawValue == NSValidationRelationshipDeniedDeleteError
        {
            let items = (place.value(forKey: "items") as? NSSet)?.allObjects as? [Item] ?? []
            throw DeniedDeletion(
                name: name(of: place, kind), noun: kind.noun,
                items: items.map { ($0.number, $0.title) }.sorted { $0.1 < $1.1 })
        }
        return try perform("Delete \(name(of: place, kind))") { view.delete(place) }.step
    }

    private func checked(_ text: String, _ kind: PlaceKind, besides: NSManagedObject?) throws -> String {
        let name = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if name.isEmpty { throw NameProblem.empty }
        if name.isLonger(than: Self.longestName) { throw NameProblem.tooLong }
        if let other = try place(kind, named: name), other !== besides {
            throw NameProblem.taken(self.name(of: other, kind))
        }
        return name
    }
}
