import CoreData
import Foundation
import LivePages

/// Why a unit or location cannot be deleted: items have it.
struct DeniedDeletion: Error {
    let name: String
    let noun: String
    /// By name.
    let items: [(id: String, title: String)]
}

/// Why a name is not taken.
enum NameProblem: Error {
    case empty
    case tooLong
    case taken(String)

    var message: String {
        switch self {
        case .empty: "Type a name."
        case .tooLong: "That is too long: names have at most \(AccountView.longestName) characters."
        case .taken(let name): "There is “\(name)” already."
        }
    }

    /// The name without blanks around it.
    static func checked(_ text: String) throws(NameProblem) -> String {
        let name = text.trimmed
        if name.isEmpty { throw .empty }
        if name.isLonger(than: AccountView.longestName) { throw .tooLong }
        return name
    }
}

// Units and locations of a household.
extension AccountView {
    func name(of place: NSManagedObject, _ kind: PlaceKind) -> String { place.value(forKey: kind.key) as? String ?? "" }

    /// The place of that name, whatever its capitals: "KG" is "kg". Of several the one that is spelled exactly so, else the first.
    func place(_ kind: PlaceKind, named name: String, in household: UUID) throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: kind.entityName)
        request.predicate = NSPredicate(
            format: "household == %@ AND %K ==[c] %@", argumentArray: [household, kind.key, name])
        let found = try context.fetch(request).sorted { $0.number < $1.number }
        return found.first { self.name(of: $0, kind) == name } ?? found.first
    }

    /// The place of that name, made where there is none; call it in `perform(_:_:)`.
    func findOrMakePlace(_ kind: PlaceKind, named name: String, in household: UUID) throws -> NSManagedObject {
        if let place = try place(kind, named: name, in: household) { return place }
        let place = NSEntityDescription.insertNewObject(forEntityName: kind.entityName, into: context)
        place.setValue(UUID(), forKey: "id")
        place.setValue(household, forKey: "household")
        place.setValue(name, forKey: kind.key)
        return place
    }

    func addPlace(_ kind: PlaceKind, named text: String, in household: UUID) throws -> Int? {
        let name = try checked(text, kind, besides: nil, in: household)
        return try live.perform("Add \(name)") { _ = try findOrMakePlace(kind, named: name, in: household) }.step
    }

    func rename(_ place: NSManagedObject, _ kind: PlaceKind, to text: String, in household: UUID) throws -> Int? {
        let name = try checked(text, kind, besides: place, in: household)
        return try live.perform("Rename \(self.name(of: place, kind)) to \(name)") {
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
                items: items.map { ($0.id?.path ?? "", $0.title) }.sorted { $0.1 < $1.1 })
        }
        return try live.perform("Delete \(name(of: place, kind))") { context.delete(place) }.step
    }

    private func checked(
        _ text: String, _ kind: PlaceKind, besides: NSManagedObject?, in household: UUID
    ) throws -> String {
        let name = try NameProblem.checked(text)
        if let other = try place(kind, named: name, in: household), other !== besides {
            throw NameProblem.taken(self.name(of: other, kind))
        }
        return name
    }
}
