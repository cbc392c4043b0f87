import CoreData
import Foundation
import TestSupport
import Testing

/// What leads to a new object whose unique value a row of another entity of the hierarchy has (I9, I10): it is redirected, or the save
/// fails and says so.
@Suite struct ConstraintPlaceTests {
    private static let policies: [NSMergePolicy] = [
        .mergeByPropertyObjectTrump, .overwrite, .mergeByPropertyStoreTrump, .rollback,
    ]

    /// How a garage leads to cars.
    enum Way: String, CaseIterable {
        case favourite, list, suvs, prize, shared
        /// To any car.
        case cars

        /// Whether the car's to-one says it, which is a value of the car.
        var isOfCar: Bool { self == .suvs || self == .cars }

        var isToMany: Bool { [.list, .suvs, .shared, .cars].contains(self) }

        /// The relationship of a car that leads back; that of a garage is the way's name.
        var inverse: String? {
            switch self {
            case .favourite, .list: nil
            case .suvs: "garage"
            case .prize: "winner"
            case .shared: "garages"
            case .cars: "place"
            }
        }
    }

    private static func makeModel() -> NSManagedObjectModel {
        func entity(_ name: String) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            return entity
        }
        func text(_ name: String) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .stringAttributeType, true)
            return attribute
        }
        func relationship(
            _ name: String, _ destination: NSEntityDescription, _ isToMany: Bool
        ) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            (relationship.name, relationship.destinationEntity) = (name, destination)
            (relationship.isOptional, relationship.maxCount) = (true, isToMany ? 0 : 1)
            return relationship
        }
        let (car, suv, sedan, garage) = (entity("Car"), entity("SUV"), entity("Sedan"), entity("Garage"))
        (car.properties, car.uniquenessConstraints, car.subentities) = ([text("vin")], [["vin"]], [suv, sedan])
        garage.properties = [text("name")]
        for way in Way.allCases {
            let kind = way == .cars ? car : suv
            let there = relationship(way.rawValue, kind, way.isToMany)
            garage.properties.append(there)
            guard let inverse = way.inverse else { continue }
            let back = relationship(inverse, garage, way == .shared)
            (there.inverseRelationship, back.inverseRelationship) = (back, there)
            kind.properties.append(back)
        }
        let model = NSManagedObjectModel()
        model.entities = [car, suv, sedan, garage]
        return model
    }

    private func check(_ body: (NSManagedObjectContext, NSMergePolicy) throws -> Void) throws {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        for (index, policy) in Self.policies.enumerated() {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
            try coordinator.addPersistentStore(type: .sqlite, at: folder.appendingPathComponent("\(index).sqlite"))
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            context.mergePolicy = policy
            try context.performAndWait { try body(context, policy) }
        }
    }

    private func insert(_ entity: String, _ context: NSManagedObjectContext, vin: String? = nil) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        if let vin { object.setValue(vin, forKey: "vin") }
        return object
    }

    private func lead(_ garage: NSManagedObject, _ way: Way, to car: NSManagedObject?) {
        garage.setValue(way.isToMany ? NSSet(array: car.map { [$0] } ?? []) : car, forKey: way.rawValue)
    }

    private func cars(_ garage: NSManagedObject, _ way: Way) -> Set<NSManagedObject> {
        guard way.isToMany else {
            return Set([garage.value(forKey: way.rawValue) as? NSManagedObject].compactMap { $0 })
        }
        return garage.value(forKey: way.rawValue) as? Set<NSManagedObject> ?? []
    }

    @Test(arguments: Way.allCases)
    func nothingThatLeadsToIt(is way: Way) throws {
        try check { context, policy in
            let row = insert("Sedan", context, vin: "v")
            try context.save()
            let (garage, new) = (insert("Garage", context), insert("SUV", context, vin: "v"))
            let other = insert("Garage", context)
            lead(garage, way, to: new)
            let what: Comment = "\(way), \(policy)"
            let isMine = policy == .mergeByPropertyObjectTrump || policy == .overwrite
            if isMine ? way != .cars : !way.isOfCar {
                let error = #expect(throws: CocoaError.self, what) { try context.save() }
                #expect(error?.errorCode == NSManagedObjectConstraintMergeError, what)
                let text = error?.localizedDescription ?? ""
                #expect(text.contains("The SUV cannot become the Sedan"), "\(what): \(text)")
                #expect(text.contains(way.inverse ?? way.rawValue), "\(what): \(text)")
                #expect(new.isInserted && cars(garage, way) == [new] && context.insertedObjects.count == 3, what)
                lead(garage, way, to: nil)
            }
            try context.save()
            #expect(new.managedObjectContext == nil, what)
            // Where the row's values win, where it is wins, too.
            #expect(cars(garage, way) == (way == .cars && isMine ? [row] : []), what)
            #expect(!other.hasChanges && !context.hasChanges, what)
        }
    }

    /// An object with a row gives way to another one.
    @Test(arguments: Way.allCases)
    func nothingThatLeadsToARow(is way: Way) throws {
        try check { context, policy in
            let (row, suv) = (insert("Sedan", context, vin: "v"), insert("SUV", context, vin: "w"))
            let garage = insert("Garage", context)
            lead(garage, way, to: suv)
            try context.save()
            context.refreshAllObjects()
            suv.setValue("v", forKey: "vin")
            let what: Comment = "\(way), \(policy)"
            let isMine = policy == .mergeByPropertyObjectTrump || policy == .overwrite
            if isMine, !way.isOfCar {
                let error = #expect(throws: CocoaError.self, what) { try context.save() }
                #expect(error?.errorCode == NSManagedObjectConstraintMergeError, what)
                #expect(
                    suv.value(forKey: "vin") as? String == "v" && !suv.isDeleted && cars(garage, way) == [suv], what)
                context.rollback()
                return
            }
            try context.save()
            // Of what was not changed the row keeps its own.
            #expect(cars(garage, way) == (isMine ? [] : [suv]) && row.value(forKey: "place") == nil, what)
            #expect(suv.isDeleted == false && (suv.managedObjectContext == nil) == isMine, what)
        }
    }
}
