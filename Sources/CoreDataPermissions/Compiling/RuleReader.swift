import CoreData
import CoreDataModel
import Foundation

/// Reads the rules of a model from `userInfo` and from code, and collects all mistakes.
struct RuleReader {
    static let ownerKey = "allow.owner"
    static let groupKey = "allow.group"

    typealias Problem = AccessRuleError.Problem

    private let model: NSManagedObjectModel
    private let compiled: CompiledModel

    init(_ model: NSManagedObjectModel) throws {
        self.model = model
        compiled = try model.freeze()
    }

    /// - Throws: ``AccessRuleError`` with all mistakes.
    func read(_ builder: AccessRules.Builder) throws -> RuleSet {
        var problems: [Problem] = []
        let texts = self.texts(builder, &problems)
        var entities: [RuleSet.Entity] = []
        // Parents have lower ordinals.
        for entity in compiled.entities {
            var own = entity.parent.map { entities[$0] } ?? RuleSet.Entity()
            read(texts.entities[entity.name] ?? [:], entity, &own, &problems)
            read(texts.properties[entity.name] ?? [:], entity, &own, &problems)
            entities.append(own)
        }
        let set = RuleSet(model: compiled, entities: entities)
        problems += RuleSetChecks(set).problems
        guard problems.isEmpty else { throw AccessRuleError(problems: problems.removingDuplicates()) }
        return set
    }

    // MARK: Texts

    private func texts(_ builder: AccessRules.Builder, _ problems: inout [Problem]) -> AccessRules.Builder {
        var texts = AccessRules.Builder()
        for entity in model.entities {
            let name = entity.name ?? ""
            texts.entities[name] = rules(in: entity.userInfo, name, nil, &problems)
            for property in entity.properties where entity.superentity?.propertiesByName[property.name] == nil {
                texts.properties[name, default: [:]][property.name] = rules(
                    in: property.userInfo, name, property.name, &problems)
            }
        }
        for (entity, rules) in builder.entities.sorted(by: { $0.key < $1.key }) {
            guard compiled.entity(named: entity) != nil else {
                problems.append(unknownEntity(entity, rules))
                continue
            }
            texts.entities[entity, default: [:]].merge(rules) { _, new in new }
        }
        for (entity, properties) in builder.properties.sorted(by: { $0.key < $1.key }) {
            for (property, rules) in properties.sorted(by: { $0.key < $1.key }) {
                guard let known = compiled.entity(named: entity) else {
                    problems.append(unknownEntity(entity, rules))
                    continue
                }
                guard known.property(named: property) != nil else {
                    problems.append(
                        Problem(
                            entity: entity, property: property, key: rules.keys.min() ?? "",
                            text: rules.values.min() ?? "",
                            reason: "'\(property)' is no property of entity '\(entity)'",
                            advice: "Write one of \(known.namesInModel.joined(separator: ", "))"))
                    continue
                }
                texts.properties[entity, default: [:]][property, default: [:]].merge(rules) { _, new in new }
            }
        }
        return texts
    }

    private func unknownEntity(_ name: String, _ rules: [String: String]) -> Problem {
        Problem(
            entity: name, key: rules.keys.min() ?? "", text: rules.values.min() ?? "",
            reason: "'\(name)' is no entity of the model",
            advice: "Write one of \(compiled.entities.map(\.name).joined(separator: ", "))")
    }

    /// Returns the entries whose keys begin with `allow.`.
    private func rules(
        in info: [AnyHashable: Any]?, _ entity: String, _ property: String?, _ problems: inout [Problem]
    ) -> [String: String] {
        var rules: [String: String] = [:]
        for (key, value) in info ?? [:] {
            guard let key = key as? String, key.hasPrefix("allow.") else { continue }
            if let text = value as? String {
                rules[key] = text
            } else {
                problems.append(
                    Problem(
                        entity: entity, property: property, key: key, text: "\(value)", reason: "the value is no text",
                        advice: "Write a list of words as a String"))
            }
        }
        return rules
    }

    // MARK: Rules

    private func read(
        _ texts: [String: String], _ entity: CompiledEntity, _ own: inout RuleSet.Entity, _ problems: inout [Problem]
    ) {
        let checker = RuleChecker(model: compiled)
        for (key, text) in texts.sorted(by: { $0.key < $1.key }) {
            do throws(RuleParser.Mistake) {
                switch key {
                case Self.ownerKey: own.owner = try checker.path(text, of: entity.ordinal)
                case Self.groupKey: own.group = try checker.path(text, of: entity.ordinal)
                default:
                    guard let verb = AccessVerb.allCases.first(where: { $0.key == key }) else {
                        throw unknownKey(key, AccessVerb.allCases.map(\.key) + [Self.ownerKey, Self.groupKey])
                    }
                    own.rules[verb] = try rule(text, entity, checker)
                }
            } catch {
                problems.append(
                    Problem(entity: entity.name, key: key, text: text, reason: error.reason, advice: error.advice))
            }
        }
    }

    private func read(
        _ texts: [String: [String: String]], _ entity: CompiledEntity, _ own: inout RuleSet.Entity,
        _ problems: inout [Problem]
    ) {
        let checker = RuleChecker(model: compiled)
        for (name, texts) in texts.sorted(by: { $0.key < $1.key }) {
            guard let slot = entity.slotByName[name] else { continue }
            for (key, text) in texts.sorted(by: { $0.key < $1.key }) {
                do throws(RuleParser.Mistake) {
                    guard let verb = [AccessVerb.read, .update].first(where: { $0.key == key }) else {
                        throw unknownKey(key, [AccessVerb.read.key, AccessVerb.update.key])
                    }
                    let rule = try rule(text, entity, checker)
                    for slot in elements(of: slot, entity) { own.properties[slot, default: [:]][verb] = rule }
                } catch {
                    problems.append(
                        Problem(
                            entity: entity.name, property: name, key: key, text: text, reason: error.reason,
                            advice: error.advice))
                }
            }
        }
    }

    /// Returns the slot, and those of the elements of a composite attribute.
    private func elements(of slot: Int, _ entity: CompiledEntity) -> [Int] {
        [slot] + (entity.properties[slot].attribute?.elements ?? []).flatMap { elements(of: $0, entity) }
    }

    private func rule(
        _ text: String, _ entity: CompiledEntity, _ checker: RuleChecker
    ) throws(RuleParser.Mistake) -> Rule {
        let rule = try RuleParser.parse(text)
        for case .predicate(let node) in rule.clauses { try checker.check(node, of: entity.ordinal) }
        return rule
    }

    private func unknownKey(_ key: String, _ known: [String]) -> RuleParser.Mistake {
        RuleParser.Mistake(reason: "'\(key)' is no key here", advice: "Write one of \(known.joined(separator: ", "))")
    }
}

extension [AccessRuleError.Problem] {
    fileprivate func removingDuplicates() -> [AccessRuleError.Problem] {
        var seen: Set<AccessRuleError.Problem> = []
        return filter { seen.insert($0).inserted }
    }
}
