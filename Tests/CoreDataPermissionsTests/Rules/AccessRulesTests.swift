import CoreData
import CoreDataPermissions
import CoreDataPredicate
import Foundation
import Testing

@Suite struct AccessRulesTests {
    typealias M = ModelMaking

    private func model(_ info: [String: String], property: [String: String] = [:]) -> NSManagedObjectModel {
        let list = M.entity(
            "List", M.attribute("household", .UUIDAttributeType), M.attribute("isOpen", .booleanAttributeType))
        let item = M.entity(
            "Item", info: info, M.attribute("name"), M.attribute("price", .integer32AttributeType, info: property),
            M.attribute("owner", .UUIDAttributeType))
        M.relate(item, "list", list, "items")
        let model = NSManagedObjectModel()
        model.entities = [list, item]
        return model
    }

    // MARK: Compilation

    /// A UUID in the predicate language.
    private static func text(_ id: UUID) -> String { "CAST(\"\(id)\", \"NSUUID\")" }

    static let compiled: [(rule: String, accessor: Accessor, format: String)] = {
        let member = Accessor(
            account: Groceries.ann, groups: [Groceries.home: "editor", Groceries.office: "viewer"])
        let none = Accessor.anonymous
        let signedIn = Accessor(account: Groceries.ann)
        let (ann, home, office) = (text(Groceries.ann), text(Groceries.home), text(Groceries.office))
        return [
            ("nobody", member, "FALSEPREDICATE"), ("anyone", none, "TRUEPREDICATE"),
            ("signedIn", none, "FALSEPREDICATE"),
            ("signedIn", signedIn, "TRUEPREDICATE"), ("owner", none, "FALSEPREDICATE"),
            ("owner", signedIn, "owner == \(ann)"), ("group", signedIn, "FALSEPREDICATE"),
            ("group", member, "list.household IN {\(home), \(office)}"),
            ("role:editor", member, "list.household IN {\(home)}"), ("role:owner", member, "FALSEPREDICATE"),
            ("administrator", member, "FALSEPREDICATE"),
            ("administrator", Accessor(account: Groceries.ann, isAdministrator: true), "TRUEPREDICATE"),
            ("administrator", Accessor(account: nil, isAdministrator: true), "FALSEPREDICATE"),
            ("nobody, owner", signedIn, "owner == \(ann)"), ("owner, anyone", none, "TRUEPREDICATE"),
            ("owner, list.isOpen == YES", signedIn, "owner == \(ann) OR list.isOpen == 1"),
            ("price > 3", none, "price > 3"), ("TRUEPREDICATE", none, "TRUEPREDICATE"),
            ("owner == $user", none, "FALSEPREDICATE"), ("owner != $user", none, "FALSEPREDICATE"),
            ("owner == $user", signedIn, "owner == \(ann)"), ("NOT owner IN $groups", none, "FALSEPREDICATE"),
            ("$role == 'editor'", member, "list.household IN {\(home)}"),
            ("$role == 'editor' AND price < 3", member, "list.household IN {\(home)} AND price < 3"),
            ("$role == 'owner'", member, "FALSEPREDICATE"),
            ("name IN {'a,b', 'c'}, owner", signedIn, "name IN {\"a,b\", \"c\"} OR owner == \(ann)"),
        ]
    }()

    @Test(arguments: compiled.indices)
    func ruleBecomesAPredicate(index: Int) throws {
        let (rule, accessor, format) = Self.compiled[index]
        let rules = try AccessRules(
            model(["allow.owner": "owner", "allow.group": "list.household", "allow.read": rule]))
        #expect(rules.predicate(.read, "Item", as: accessor).node.predicateFormat == format, "\(rule)")
    }

    @Test func everythingIsClosedWithoutARule() throws {
        let rules = try AccessRules(model([:]))
        let accessor = Accessor(account: UUID(), groups: [Groceries.home: "owner"], isAdministrator: true)
        for verb in AccessVerb.allCases {
            #expect(rules.may(verb, "Item", as: accessor) == .never)
            #expect(rules.may(verb, "name", of: "Item", as: accessor) == .never)
            #expect(rules.may(verb, "Nothing", as: accessor) == .never)
        }
    }

    @Test func propertyNarrowsItsEntity() throws {
        let rules = try AccessRules(
            model(["allow.owner": "owner", "allow.read": "signedIn"], property: ["allow.read": "owner"]))
        let ann = Accessor(account: Groceries.ann)
        #expect(rules.may(.read, "name", of: "Item", as: ann) == .always)
        #expect(rules.may(.read, "price", of: "Item", as: ann) == .depends)
        #expect(rules.may(.read, "price", of: "Item", as: .anonymous) == .never)
        #expect(rules.may(.read, "nothing", of: "Item", as: ann) == .never)
        #expect(
            rules.predicate(.read, "price", of: "Item", as: ann).node.predicateFormat
                == "owner == \(Self.text(Groceries.ann))")
    }

    @Test func codeWinsOverTheModel() throws {
        let rules = try AccessRules(model(["allow.read": "anyone", "allow.delete": "anyone"])) { rules in
            rules.allow(.read, "Item", "nobody")
            rules.owner("owner", of: "Item")
            rules.allow(.update, "price", of: "Item", "owner")
        }
        #expect(rules.may(.read, "Item", as: .anonymous) == .never)
        #expect(rules.may(.delete, "Item", as: .anonymous) == .always)
        let row = try #require(rules.rows.first { $0.property == "price" })
        #expect(row.rules == [.update: "owner"])
        #expect(
            rules.table == """
                | Entity | Read | Create | Update | Delete | Owner | Group |
                | --- | --- | --- | --- | --- | --- | --- |
                | Item | nobody | nobody | nobody | anyone | owner |  |
                | Item.price |  |  | owner |  |  |  |
                | List | nobody | nobody | nobody | nobody |  |  |

                """)
    }

    @Test func subentityInheritsAndReplaces() throws {
        let parent = M.entity(
            "Parent", info: ["allow.read": "owner", "allow.owner": "owner"], M.attribute("owner", .UUIDAttributeType))
        let same = M.entity("Same")
        let other = M.entity("Other", info: ["allow.read": "anyone"])
        parent.subentities = [same, other]
        let model = NSManagedObjectModel()
        model.entities = [parent, same, other]
        let rules = try AccessRules(model)
        let ann = Accessor(account: Groceries.ann)
        #expect(rules.predicate(.read, "Same", as: ann).node.predicateFormat == "owner == \(Self.text(Groceries.ann))")
        #expect(rules.may(.read, "Other", as: ann) == .always)
        #expect(rules.rows.first { $0.entity == "Same" }?.owner == "owner")
    }

    // MARK: Mistakes

    static let mistakes: [(info: [String: String], property: [String: String], parts: [String])] = [
        (["allow.read": "groop"], [:], ["Item", "allow.read", "groop", "unknown word 'groop'", "nobody, anyone"]),
        (["allow.read": "Owner"], [:], ["unknown word 'Owner'", "Write owner"]),
        (["allow.read": "anyone,"], [:], ["a word is missing"]),
        (["allow.read": ""], [:], ["a word is missing"]),
        (["allow.read": "role:"], [:], ["names no role", "role:editor"]),
        (["allow.reed": "anyone"], [:], ["'allow.reed' is no key", "allow.read"]),
        (["allow.read": "price >"], [:], ["is no predicate"]),
        (["allow.read": "cost > 3"], [:], ["'cost' is no property of entity 'Item'", "price"]),
        (["allow.read": "list.name == 'a'"], [:], ["'name' is no property of entity 'List'"]),
        (["allow.read": "SUBQUERY(list.items, $x, $x.cost > 3).@count > 0"], [:], ["'cost' is no property"]),
        (["allow.read": "owner == $me"], [:], ["'$me' has no value", "$user"]),
        (["allow.read": "owner"], [:], ["no allow.owner", "Write allow.owner"]),
        (["allow.read": "role:x"], [:], ["no allow.group"]),
        (["allow.read": "$role == 'x'"], [:], ["no allow.group"]),
        (["allow.owner": "name"], [:], ["allow.owner", "no stored UUID attribute"]),
        (["allow.group": "list.items.owner"], [:], ["no to-one relationship"]),
        (["allow.group": "house"], [:], ["'house' is no property"]),
        (["allow.read": "FUNCTION(self, 'dance') == 1"], [:], ["cannot contain"]),
        ([:], ["allow.delete": "anyone"], ["Item.price", "'allow.delete' is no key here"]),
        ([:], ["allow.read": "cost > 3"], ["Item.price", "'cost' is no property"]),
    ]

    @Test(arguments: mistakes.indices)
    func mistakeIsAnErrorThatSaysWhatToWrite(index: Int) throws {
        let (info, property, parts) = Self.mistakes[index]
        let error = try #require(throws: AccessRuleError.self) { try AccessRules(model(info, property: property)) }
        #expect(error.problems.count == 1)
        for part in parts { #expect(error.description.contains(part), "\(error)") }
    }

    @Test func allMistakesAreToldAtOnce() throws {
        let error = try #require(throws: AccessRuleError.self) {
            try AccessRules(model(["allow.read": "a", "allow.update": "b"])) { rules in
                rules.allow(.read, "Nothing", "anyone")
                rules.allow(.read, "nothing", of: "Item", "anyone")
            }
        }
        #expect(error.problems.map(\.entity).sorted() == ["Item", "Item", "Item", "Nothing"])
    }

    @Test func relationshipNeedsRulesOnBothSides() throws {
        let error = try #require(throws: AccessRuleError.self) {
            try AccessRules(model([:])) { $0.allow(.read, "list", of: "Item", "nobody") }
        }
        #expect(error.problems.first?.reason.contains("inverse 'items' of entity 'List'") == true)
        _ = try AccessRules(model([:])) {
            $0.allow(.read, "list", of: "Item", "nobody")
            $0.allow(.read, "items", of: "List", "nobody")
        }
    }

    static let constraints: [(constraint: [String], read: String, isRefused: Bool)] = [
        (["name"], "group", true), (["name", "list"], "group", false), (["name"], "anyone", false),
        (["owner"], "group", false), (["name", "price"], "signedIn", true),
    ]

    @Test(arguments: constraints.indices)
    func constraintMustNotRevealHiddenObjects(index: Int) throws {
        let (constraint, read, isRefused) = Self.constraints[index]
        let model = model([
            "allow.group": "list.household", "allow.read": read, "allow.create": "group", "allow.update": "group",
        ])
        model.entitiesByName["Item"]?.uniquenessConstraints = [constraint]
        if isRefused {
            let error = try #require(throws: AccessRuleError.self) { try AccessRules(model) }
            #expect(error.description.contains("uniqueness constraint"))
        } else {
            _ = try AccessRules(model)
        }
    }
}
