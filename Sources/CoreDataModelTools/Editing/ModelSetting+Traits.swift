import CoreDataModel

extension ModelSetting {
    private static let properties: Set<Target> = [.attribute, .relationship, .fetchedProperty, .compositeElement]
    private static let attributes: Set<Target> = [.attribute, .compositeElement]
    private static let requests: Set<Target> = [.fetchRequest, .fetchedProperty]

    /// The table of settings.
    package var traits: Traits {
        modelTraits ?? entityTraits ?? attributeTraits ?? relationshipTraits ?? requestTraits
            ?? Traits(title: rawValue, hint: "", form: .text, targets: [])
    }

    private var modelTraits: Traits? {
        switch self {
        case .versionIdentifier:
            Traits(
                title: "Identifier", hint: "a name of this version for programs; stores are recognised by hashes",
                form: .text, targets: [.model])
        case .minimumToolsVersion:
            Traits(
                title: "Tools Version", hint: "the oldest Xcode that can open the model",
                form: .names(["Automatic", "Xcode 4.3", "Xcode 4.5", "Xcode 7.0", "Xcode 7.3"]),
                targets: [.model])
        case .sourceLanguage:
            Traits(
                title: "Code Generation Language", hint: "the language of the classes that Xcode generates",
                form: .choice([(nil, "Default"), ("Swift", "Swift"), ("Objective-C", "Objective-C")]),
                targets: [.model])
        case .modelUsedWithSwiftData:
            Traits(
                title: "Used with SwiftData", hint: "Xcode checks the model for SwiftData, too",
                form: .flag(default: false), targets: [.model])
        case .usedWithCloudKit:
            Traits(
                title: "Used with CloudKit", hint: "the configuration's store is synchronised by CloudKit",
                form: .flag(default: false), targets: [.configuration, .model])
        case .indexPredicate:
            Traits(
                title: "Predicate", hint: "the index contains only rows for which it is true",
                form: .predicate, targets: [.fetchIndex])
        default: nil
        }
    }

    private var entityTraits: Traits? {
        switch self {
        case .className:
            Traits(
                title: "Class", hint: "the Swift class of the objects; a leading point is the application's own module",
                form: .text, targets: [.entity])
        case .codeGeneration:
            Traits(
                title: "Codegen", hint: "the part of the class that tools generate",
                form: .choice([
                    (nil, "Manual/None"), ("class", "Class Definition"), ("category", "Category/Extension"),
                ]), targets: [.entity])
        case .parent:
            Traits(
                title: "Parent Entity", hint: "all entities of a family share one table", form: .entity,
                targets: [.entity])
        case .isAbstract:
            Traits(
                title: "Abstract Entity", hint: "there are only objects of its subentities",
                form: .flag(default: false),
                targets: [.entity])
        case .spotlightDisplayName:
            Traits(
                title: "Spotlight Display Name", hint: "an expression for the title of a search result", form: .text,
                targets: [.entity])
        case .hashModifier:
            Traits(
                title: "Hash Modifier",
                hint: "another text changes the version hash: stores migrate although the table is the same",
                form: .text, targets: Self.properties.union([.entity]))
        case .renamingIdentifier:
            Traits(
                title: "Renaming ID",
                hint: "the name in the previous version: a lightweight migration keeps the values",
                form: .text, targets: Self.properties.union([.entity]))
        case .isSynchronized:
            Traits(
                title: "Syncable", hint: "for Apple's former Sync Services; the store ignores it", form: .optionalFlag,
                targets: Self.properties.union([.entity]))
        default: nil
        }
    }

    private var attributeTraits: Traits? {
        func attribute(_ title: String, _ hint: String, _ form: Form) -> Traits {
            Traits(title: title, hint: hint, form: form, targets: Self.attributes)
        }
        switch self {
        case .isOptional:
            return Traits(
                title: "Optional", hint: "objects without a value can be saved", form: .flag(default: false),
                targets: Self.properties)
        case .isTransient:
            return Traits(
                title: "Transient", hint: "not stored: the table has no column for it", form: .flag(default: false),
                targets: [.attribute, .relationship, .compositeElement])
        case .attributeType:
            let names = AttributeType.allCases.compactMap(\.fileName)
            return attribute(
                "Type", "decides the column's type: a change needs a migration", .names(names))
        case .composite: return attribute("Composite", "the composite whose elements are the columns", .composite)
        case .derivation:
            return Traits(
                title: "Derivation", hint: "the store computes the value, for example items.@count or now()",
                form: .text, targets: [.attribute])
        case .minimum:
            return attribute("Minimum", "checked before a save: the least value, date or length", .bound)
        case .maximum:
            return attribute("Maximum", "checked before a save: the greatest value, date or length", .bound)
        case .defaultValue: return attribute("Default Value", "the value of a new object", .value)
        case .pattern: return attribute("Reg. Ex.", "checked before a save: the whole text must match", .pattern)
        case .valueTransformer:
            return attribute("Transformer", "makes data of the value: NSSecureUnarchiveFromData or your own", .text)
        case .customClass: return attribute("Custom Class", "the class of the value in generated code", .text)
        case .usesScalar:
            return attribute(
                "Use Scalar Type", "generated classes declare Int64 or Double instead of NSNumber", .optionalFlag)
        case .allowsExternalStorage:
            return attribute(
                "Allows External Storage", "large values are files beside the store", .flag(default: false))
        case .allowsCloudEncryption:
            return attribute("Allows Cloud Encryption", "CloudKit encrypts the value", .flag(default: false))
        case .preservesAfterDeletion:
            return attribute(
                "Preserve After Deletion", "the history keeps the value of a deleted object", .flag(default: false))
        default: return nil
        }
    }

    private var relationshipTraits: Traits? {
        func relationship(_ title: String, _ hint: String, _ form: Form) -> Traits {
            Traits(title: title, hint: hint, form: form, targets: [.relationship])
        }
        switch self {
        case .destination: return relationship("Destination", "the entity of the related objects", .entity)
        case .isToMany:
            return relationship(
                "Type", "To One is a column, To Many uses the inverse's column or a table of its own",
                .choice([(nil, "To One"), ("YES", "To Many")]))
        case .isOrdered:
            return relationship(
                "Ordered", "the store keeps the order, in a column of its own", .flag(default: false))
        case .minimumCount:
            return relationship("Minimum Count", "checked before a save", .count(default: 0))
        case .maximumCount:
            return relationship("Maximum Count", "checked before a save; 0 means no limit", .count(default: 0))
        case .deleteRule:
            return relationship(
                "Delete Rule", "what happens to related objects when this one is deleted",
                .names(["Nullify", "Cascade", "Deny", "No Action"]))
        case .isIndexed:
            return Traits(
                title: "Indexed", hint: "the index of models from before Xcode 9; use fetch indexes",
                form: .flag(default: false), targets: [.attribute, .relationship])
        case .isIndexedBySpotlight:
            return Traits(
                title: "Index in Spotlight", hint: "Apple's systems can search the value",
                form: .flag(default: false), targets: Self.properties)
        case .isStoredInTruthFile:
            return Traits(
                title: "Store in External Record File", hint: "for Apple's former Spotlight records",
                form: .flag(default: false), targets: Self.properties)
        default: return nil
        }
    }

    private var requestTraits: Traits? {
        func request(_ title: String, _ hint: String, _ form: Form) -> Traits {
            Traits(title: title, hint: hint, form: form, targets: Self.requests)
        }
        switch self {
        case .requestEntity: return request("Entity", "the entity of the results", .entity)
        case .predicate:
            return request("Predicate", "the condition; $NAME is a variable that the program sets", .predicate)
        case .fetchLimit: return request("Fetch Limit", "0 means no limit", .count(default: 0))
        case .fetchBatchSize:
            return request("Batch Size", "the number of objects that are read at once; 0 reads all", .count(default: 0))
        case .resultType:
            return request(
                "Result Type", "what a fetch returns",
                .choice([(nil, "Objects"), ("1", "Object IDs"), ("2", "Dictionaries"), ("4", "Count")]))
        case .includesSubentities:
            return request("Include Subentities", "objects of subentities, too", .flag(default: true))
        case .includesPropertyValues:
            return request("Include Property Values", "values are read with the objects", .flag(default: true))
        case .includesPendingChanges:
            return request("Includes Pending Changes", "unsaved objects, too", .flag(default: true))
        case .returnsObjectsAsFaults:
            return request("Return Objects as Faults", "values are read on first use", .flag(default: true))
        case .returnsDistinctResults:
            return request("Return Distinct Results", "equal dictionaries once only", .flag(default: false))
        default: return nil
        }
    }
}
