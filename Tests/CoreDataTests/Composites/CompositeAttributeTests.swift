import CoreDataModel
import CoreDataStore
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Composite attributes as programs meet them, on SQLite (U3).
@Suite struct CompositeAttributeTests {
    private static func attribute(
        _ name: String, _ type: NSAttributeType, optional: Bool = true, default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.defaultValue = value
        return attribute
    }

    private static func composite(
        _ name: String, optional: Bool = true, _ elements: NSAttributeDescription...
    ) -> NSCompositeAttributeDescription {
        let composite = NSCompositeAttributeDescription()
        composite.name = name
        composite.isOptional = optional
        composite.elements = elements
        return composite
    }

    private static func model(_ composite: NSAttributeDescription?, unique: [[Any]] = []) -> NSManagedObjectModel {
        let quake = NSEntityDescription()
        quake.name = "Quake"
        quake.managedObjectClassName = "NSManagedObject"
        quake.properties = [attribute("code", .stringAttributeType)] + (composite.map { [$0] } ?? [])
        quake.uniquenessConstraints = unique
        let model = NSManagedObjectModel()
        model.entities = [quake]
        return model
    }

    /// `magnitude` of `richter`, which it must have, at least -2, and `depth`.
    private static func magnitude(optional: Bool = true) -> NSCompositeAttributeDescription {
        let richter = attribute("richter", .doubleAttributeType, optional: false)
        richter.setValidationPredicates([NSPredicate(format: "SELF >= -2")], withValidationWarnings: ["1620"])
        return composite("magnitude", optional: optional, richter, attribute("depth", .integer16AttributeType))
    }

    private func insert(
        _ context: NSManagedObjectContext, _ code: String, _ magnitude: [String: Any]?
    ) -> NSManagedObject {
        let quake = NSEntityDescription.insertNewObject(forEntityName: "Quake", into: context)
        quake.setValue(code, forKey: "code")
        quake.setValue(magnitude, forKey: "magnitude")
        return quake
    }

    @Test func eachElementHasAColumn() throws {
        let stack = try LibraryStack(model: Self.model(Self.magnitude()))
        try stack.story { context in
            _ = insert(context, "A", ["richter": 4.5, "depth": 10])
            try context.save()
        }
        let engine = try #require(stack.coordinator.attachedStores.first?.source as? StoreEngine)
        let columns = engine.layout.entities[0]?.columnNames.compactMap { $0 }
        #expect(columns == ["ZCODE", "ZDEPTH", "ZRICHTER"])
        #expect(
            try NSPersistentStoreCoordinator.verifyPersistentStore(
                at: stack.url, model: stack.coordinator.managedObjectModel
            ).findings.isEmpty)
    }

    @Test(
        "U3: each element is validated, and the error names composite and element",
        arguments: [
            (["richter": -3.0], NSValidationNumberTooSmallError, "magnitude.richter"),
            (["richter": 1.0, "depth": 40_000], NSValidationNumberTooLargeError, "magnitude.depth"),
            (["depth": 1], NSValidationMissingMandatoryPropertyError, "magnitude.richter"),
        ] as [([String: any Sendable], Int, String)])
    func elementsAreValidated(magnitude: [String: any Sendable], code: Int, key: String) throws {
        try LibraryStack(model: Self.model(Self.magnitude())).story { context in
            let quake = insert(context, "A", magnitude)
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.errorCode == code && error.validationKey == key)
            #expect(error.localizedDescription.contains(key))
            quake.setValue(nil, forKey: "magnitude")
            try context.save()
        }
    }

    @Test func whatASaveRefusesValidatingTheKeyRefusesToo() throws {
        func outcome(_ value: [String: Any]?, optional: Bool = true) throws -> String? {
            try LibraryStack(model: Self.model(Self.magnitude(optional: optional))).story { context in
                let quake = insert(context, "A", ["richter": 1])
                var object = value as AnyObject?
                do {
                    try withUnsafeMutablePointer(to: &object) { try quake.validateValue($0, forKey: "magnitude") }
                    return nil
                } catch let error as CocoaError { return "\(error.errorCode) \(error.validationKey ?? "")" }
            }
        }
        #expect(try outcome(["richter": 1.0, "depth": 3]) == nil)
        #expect(try outcome(nil) == nil)
        #expect(try outcome(["richter": -3.0]) == "\(NSValidationNumberTooSmallError) magnitude.richter")
        #expect(
            try outcome(["richter": 1.0, "depth": 40_000]) == "\(NSValidationNumberTooLargeError) magnitude.depth")
        #expect(try outcome(["depth": 1]) == "\(NSValidationMissingMandatoryPropertyError) magnitude.richter")
        #expect(try outcome(nil, optional: false) == "\(NSValidationMissingMandatoryPropertyError) magnitude")
        #expect(try outcome(["x": 1])?.hasPrefix("\(NSManagedObjectValidationError)") == true)
    }

    struct Shock: Decodable, Equatable {
        var code: String
        var magnitude: Magnitude?
        struct Magnitude: Decodable, Equatable {
            var richter: Double
            var depth: Int?
        }
    }

    struct DeepShock: Decodable {
        var magnitude: Magnitude
        struct Magnitude: Decodable { var width: Double }
    }

    @Test func rowsHaveCompositesAsTypesOfTheirOwn() throws {
        try LibraryStack(model: Self.model(Self.magnitude())).story { context in
            _ = insert(context, "A", ["richter": 4.5, "depth": 10])
            _ = insert(context, "B", nil)
            _ = insert(context, "C", ["richter": 2])
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Quake")
            request.sortDescriptors = [NSSortDescriptor(key: "code", ascending: true)]
            #expect(
                try context.fetch(request, as: Shock.self) == [
                    Shock(code: "A", magnitude: .init(richter: 4.5, depth: 10)), Shock(code: "B"),
                    Shock(code: "C", magnitude: .init(richter: 2)),
                ])
            request.propertiesToFetch = ["magnitude"]
            #expect(
                try context.fetch(request, as: [String: [String: Double]].self) == [
                    ["magnitude": ["richter": 4.5, "depth": 10]], [:], ["magnitude": ["richter": 2]],
                ])
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Quake")
            (dictionaries.resultType, dictionaries.predicate) = (
                .dictionaryResultType, NSPredicate(format: "code == 'A'")
            )
            for properties in [["magnitude", "magnitude.richter"], ["magnitude.richter", "magnitude"]] {
                dictionaries.propertiesToFetch = properties
                let row = try #require(try context.fetch(dictionaries).first)
                #expect(row["magnitude.richter"] as? Double == 4.5)
                #expect(row["magnitude"] as? [String: Double] == ["richter": 4.5, "depth": 10])
            }
            request.propertiesToFetch = nil
            let error = #expect(throws: CocoaError.self) { try context.fetch(request, as: DeepShock.self) }
            #expect(
                error?.localizedDescription.contains(
                    "the composite attribute 'magnitude' of Quake has no element 'width': it has depth, richter")
                    == true,
                "\(String(describing: error))")
        }
    }

    @Test(arguments: [NSPersistentStore.StoreType.sqlite, .xml, .binary])
    func anElementThatIsNotThereIsNilInEveryStore(type: NSPersistentStore.StoreType) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(Self.magnitude()))
        let url = try Fixtures.temporaryFolder().appendingPathComponent("Quakes")
        try coordinator.addPersistentStore(type: type, configuration: nil, at: url, options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            _ = insert(context, "A", ["richter": 4.5])
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Quake")
            // In the store, and in memory, where it is looked at as long as it has changes.
            for isChanged in [false, true] {
                if isChanged { try context.fetch(request).first?.setValue("B", forKey: "code") }
                for (format, count) in [
                    ("magnitude.width == nil", 1), ("magnitude.width > 1", 0), ("magnitude.depth == nil", 1),
                    ("magnitude.width == 1 OR magnitude.width.length > 0", 0),
                ] {
                    request.predicate = NSPredicate(format: format)
                    #expect(try context.fetch(request).count == count, "\(format), changed: \(isChanged)")
                }
                request.predicate = nil
            }
        }
    }

    @Test func aRequiredCompositeNeedsAValue() throws {
        try LibraryStack(model: Self.model(Self.magnitude(optional: false))).story { context in
            let quake = insert(context, "A", nil)
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.errorCode == NSValidationMissingMandatoryPropertyError && error.validationKey == "magnitude")
            quake.setValue(0, forKeyPath: "magnitude.richter")
            try context.save()
        }
    }

    @Test func whatChangedIsTheCompositeAsAWhole() throws {
        try LibraryStack(model: Self.model(Self.magnitude())).story { context in
            let quake = insert(context, "A", ["richter": 4.5, "depth": 10])
            try context.save()
            quake.setValue(["richter": 4.5, "depth": 10], forKey: "magnitude")
            #expect(!quake.hasPersistentChangedValues && quake.changedValues().isEmpty)
            quake.setValue(5, forKeyPath: "magnitude.richter")
            #expect((quake.changedValues()["magnitude"] as? [String: Any])?["richter"] as? Double == 5)
            #expect((quake.changedValues()["magnitude"] as? [String: Any])?["depth"] as? Int == 10)
            let committed = quake.committedValues(forKeys: nil)
            #expect(committed.keys.sorted() == ["code", "magnitude"])
            #expect((committed["magnitude"] as? [String: Any])?["richter"] as? Double == 4.5)
            let before = quake.changedValuesForCurrentEvent()["magnitude"] as? [String: Any]
            #expect(before?["richter"] as? Double == 4.5 && before?["depth"] as? Int == 10)
            #expect(quake.primitiveValue(forKey: "magnitude") as? [String: Double] == ["richter": 5, "depth": 10])
            quake.willChangeValue(forKey: "magnitude")
            quake.setPrimitiveValue(["richter": 6], forKey: "magnitude")
            quake.didChangeValue(forKey: "magnitude")
            try context.save()
            context.refresh(quake, mergeChanges: false)
            #expect(quake.value(forKey: "magnitude") as? [String: Double] == ["richter": 6])
        }
    }

    @Test func childContextsPassElementsOn() throws {
        let stack = try LibraryStack(model: Self.model(Self.magnitude()))
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = stack.context
        func magnitude(_ context: NSManagedObjectContext) throws -> [String: Double]? {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Quake")).first?.value(forKey: "magnitude")
                as? [String: Double]
        }
        try child.performAndWait {
            _ = insert(child, "A", ["richter": 1.5, "depth": 2])
            try child.save()
        }
        try stack.story { context in
            #expect(try magnitude(context) == ["richter": 1.5, "depth": 2])
            try context.save()
        }
        try child.performAndWait {
            let quake = try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Quake")).first
            quake?.setValue(3, forKeyPath: "magnitude.depth")
            try child.save()
        }
        try stack.story { context in
            #expect(try magnitude(context) == ["richter": 1.5, "depth": 3])
            try context.save()
            context.reset()
            #expect(try magnitude(context) == ["richter": 1.5, "depth": 3])
        }
    }

    @Test func snapshotsHaveComposites() throws {
        try LibraryStack(model: Self.model(Self.magnitude())).story { context in
            let quake = insert(context, "A", ["richter": 1.5])
            let snapshot = try ObjectSnapshot(quake)
            #expect(snapshot["magnitude"] as? [String: Double] == ["richter": 1.5])
            #expect(snapshot["magnitude.richter"] as? Double == 1.5)
        }
    }

    @Test func batchInsertsAskForMandatoryCompositesAndElements() throws {
        for (optional, objects, key) in [
            (true, [["code": "A"], ["code": "B", "magnitude.depth": 3]], "magnitude.richter"),
            (true, [["code": "A"], ["code": "B", "magnitude": ["depth": 3]]], "magnitude.richter"),
            (false, [["code": "A", "magnitude": ["richter": 1.0]], ["code": "B"]], "magnitude"),
        ] as [(Bool, [[String: Any]], String)] {
            let stack = try LibraryStack(model: Self.model(Self.magnitude(optional: optional)))
            try stack.story { context throws in
                let insert = NSBatchInsertRequest(entityName: "Quake", objects: objects)
                let error = #expect(throws: CocoaError.self) { try context.execute(insert) }
                #expect(error?.code.rawValue == NSValidationMissingMandatoryPropertyError)
                #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == key)
                #expect(error?.localizedDescription.contains("row 2 ") == true)
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Quake")) == 0)
            }
        }
    }

    @Test func batchRequestsTakeCompositesAndElements() throws {
        let stack = try LibraryStack(model: Self.model(Self.magnitude()))
        try stack.story { context in
            let insert = NSBatchInsertRequest(
                entityName: "Quake",
                objects: [
                    ["code": "A", "magnitude": ["richter": 4.5, "depth": 10]], ["code": "B", "magnitude.richter": 2.5],
                ])
            try context.execute(insert)
            func values() throws -> [[String: Double]?] {
                context.reset()
                let request = NSFetchRequest<NSManagedObject>(entityName: "Quake")
                request.sortDescriptors = [NSSortDescriptor(key: "code", ascending: true)]
                return try context.fetch(request).map { $0.value(forKey: "magnitude") as? [String: Double] }
            }
            #expect(try values() == [["richter": 4.5, "depth": 10], ["richter": 2.5]])
            let update = NSBatchUpdateRequest(entityName: "Quake")
            update.predicate = NSPredicate(format: "magnitude.richter > 3")
            update.propertiesToUpdate = ["magnitude.depth": CoreData.NSExpression(format: "magnitude.depth + 1")]
            try context.execute(update)
            #expect(try values() == [["richter": 4.5, "depth": 11], ["richter": 2.5]])
            update.predicate = nil
            update.propertiesToUpdate = ["magnitude": ["richter": 1.0]]
            try context.execute(update)
            #expect(try values() == [["richter": 1], ["richter": 1]])
            let mistakes: [[String: Any]] = [
                ["magnitude": 5], ["magnitude": ["richter": "x"]], ["magnitude": ["size": 1]], ["magnitude.size": 1],
            ]
            for wrong in mistakes {
                update.propertiesToUpdate = wrong
                let error = #expect(throws: CocoaError.self) { try context.execute(update) }
                #expect(String(describing: error).contains("magnitude"), "\(wrong)")
            }
            #expect(try values() == [["richter": 1], ["richter": 1]])
        }
    }

    @Test func whatIsNotToBeHadIsToldByName() throws {
        try LibraryStack(model: Self.model(Self.magnitude())).story { context in
            _ = insert(context, "A", ["richter": 4.5])
            try context.save()
            func message(_ format: String?, sort: String? = nil, fetch: String? = nil) throws -> String {
                let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Quake")
                request.predicate = format.map { NSPredicate(format: $0) }
                if let sort { request.sortDescriptors = [NSSortDescriptor(key: sort, ascending: true)] }
                if let fetch {
                    request.propertiesToFetch = [fetch]
                    request.resultType = .dictionaryResultType
                }
                let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
                return (error as NSError?)?.localizedDescription ?? ""
            }
            #expect(try message("magnitude > 1").contains("magnitude"))
            #expect(try message(nil, sort: "magnitude").contains("name one of its elements"))
            #expect(try message(nil, sort: "magnitude.size").contains("no element 'size'"))
            #expect(try message(nil, fetch: "magnitude.size").contains("magnitude.size"))
        }
    }

    @Test func constraintsAndHistoriesKnowElements() throws {
        let model = Self.model(Self.magnitude(), unique: [["magnitude.richter"]])
        let stack = try LibraryStack(model: model)
        defer { withExtendedLifetime(stack) {} }
        let url = stack.folder.appendingPathComponent("History.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.coordinator.managedObjectModel)
        try coordinator.addPersistentStore(type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let quake = insert(context, "A", ["richter": 4.5])
            try context.save()
            quake.setValue(7, forKeyPath: "magnitude.depth")
            try context.save()
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
            #expect(transactions.last?.changes?.first?.updatedProperties?.map(\.name) == ["magnitude"])
            let other = insert(context, "B", ["richter": 4.5])
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.errorCode == NSManagedObjectConstraintMergeError)
            #expect(error.localizedDescription.contains("magnitude.richter"))
            other.setValue(4, forKeyPath: "magnitude.richter")
            try context.save()
        }
    }

    // MARK: Migration

    private func migrated(
        _ old: NSAttributeDescription?, _ new: NSAttributeDescription?, _ value: Any?, by manager: Bool = false
    ) throws -> NSDictionary? {
        let stack = try LibraryStack(model: Self.model(old))
        // Its folder goes with it.
        defer { withExtendedLifetime(stack) {} }
        try stack.story { context in
            let quake = NSEntityDescription.insertNewObject(forEntityName: "Quake", into: context)
            if let name = old?.name { quake.setValue(value, forKey: name) }
            try context.save()
        }
        let (oldModel, newModel) = (stack.coordinator.managedObjectModel, Self.model(new))
        for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
        var url = stack.url
        if manager {
            let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: oldModel, destinationModel: newModel)
            url = stack.folder.appendingPathComponent("New.sqlite")
            let manager = NSMigrationManager(sourceModel: oldModel, destinationModel: newModel)
            manager.usesStoreSpecificMigrationManager = false
            try manager.migrateStore(
                from: stack.url, type: .sqlite, mapping: mapping, to: url, type: .sqlite)
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: newModel)
        try coordinator.addPersistentStore(
            type: .sqlite, at: url,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            let quake = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Quake")).first)
            return new.flatMap { (quake.value(forKey: $0.name) as? [String: Any]).map { $0 as NSDictionary } }
        }
    }

    @Test("T5: elements are added, removed and renamed, and composites too", arguments: [false, true])
    func compositesMigrate(byManager: Bool) throws {
        let old = Self.composite(
            "place", Self.attribute("town", .stringAttributeType), Self.attribute("zip", .stringAttributeType))
        let city = Self.attribute("city", .stringAttributeType)
        city.renamingIdentifier = "town"
        let new = Self.composite("address", city, Self.attribute("floor", .integer16AttributeType))
        new.renamingIdentifier = "place"
        #expect(try migrated(old, new, ["town": "Oslo", "zip": "1"], by: byManager) == ["city": "Oslo"])
        #expect(try migrated(nil, Self.magnitude(), nil, by: byManager) == nil)
        #expect(try migrated(Self.magnitude(), nil, ["richter": 1.5], by: byManager) == nil)
    }

    @Test func anAttributeDoesNotBecomeAComposite() throws {
        let error = try #require(throws: CocoaError.self) {
            _ = try migrated(Self.attribute("magnitude", .doubleAttributeType), Self.magnitude(), 1.5)
        }
        #expect((error as NSError).localizedDescription.contains("Quake.magnitude"))
    }

    // MARK: Values

    @Test func whatACompositeTakes() throws {
        let model = Self.model(Self.magnitude())
        let entity = try #require(try ModelRuntime(model).entity(named: "Quake"))
        let slot = try #require(entity.slot(forKey: "magnitude"))
        func message(_ value: Any?) -> String? {
            do {
                _ = try CompositeValues.elements(of: value, slot: slot, in: entity)
                return nil
            } catch { return error.message }
        }
        #expect(message(nil) == nil && message(NSNull()) == nil && message([String: Any]()) == nil)
        #expect(message(["richter": 4.5, "depth": NSNull()]) == nil && message(["depth": 1] as NSDictionary) == nil)
        #expect(message(5)?.contains("takes a dictionary of its elements, not Int") == true)
        #expect(message(["size": 1])?.contains("has no element 'size'; it has: depth, richter") == true)
        #expect(
            message(["richter": "x"])?.contains("'magnitude.richter' of entity 'Quake' takes NSNumber, not String")
                == true)
    }
}
