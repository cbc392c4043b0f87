import CoreDataModel
import CoreDataPrimitives
import Foundation

extension NSManagedObject {
    enum ValidatedOperation {
        case insert
        case update
        case delete
    }

    /// Runs the model's checks, then an overridden `validateValue(_:forKey:)` and methods `validate<Key>(_:)`. Throws
    /// one error with all problems.
    final func validate(_ operation: ValidatedOperation) throws {
        let overrides = ClassOverrides.overridesValidateValue(type(of: self))
        let looksAtDestinations = operation != .delete && mayDangle
        if !overrides, !looksAtDestinations, !flags.contains(.wideInteger), home.runtime.validation.isEmpty,
            !home.runtime.uncountedMembers(of: type(of: self))._withUnsafeGuaranteedRef({ $0.hasValidators })
        {
            return
        }
        let members = memberTable
        var errors: [any Error] = []
        if operation == .delete {
            validateDenying(&errors)
        } else if overrides {
            validateByKey(members, &errors)
            validateCounts(&errors, besides: keys(of: errors))
        } else {
            validateMandatory(&errors)
            validateWidths(&errors)
            validateRules(&errors)
            validateCounts(&errors)
            if members.hasValidators { validateByMember(members, &errors) }
        }
        if looksAtDestinations { validateDestinations(&errors) }
        if let error = CoreDataErrors.combined(errors) { throw error }
    }

    private final func validateMandatory(_ errors: inout [any Error]) {
        guard !runtime.validation.mandatory.isEmpty else { return }
        // An updated object that was only touched by another's relationship may still be a fault.
        fireIfNeeded(key: nil)
        // An object whose row was deleted is not saved.
        if flags.contains(.inaccessible) { return }
        for slot in runtime.validation.mandatory where isNil(slot) && isAskedFor(slot) && !mayBeHidden(slot) {
            errors.append(
                ValidationErrors.missing(runtime.slots[slot].name, of: self))
        }
    }

    /// Returns whether the store may have a value that the context may not read.
    private final func mayBeHidden(_ slot: Int) -> Bool {
        isStored && !isChanged(slot)
            && managedObjectContext?.restriction.mayHide(slot: slot, ofEntity: runtime.ordinal) == true
    }

    /// Returns whether an element needs a value: only if its composite has one.
    private final func isAskedFor(_ slot: Int) -> Bool {
        runtime.slots[slot].property.composite.map { !isNil($0) } ?? true
    }

    private final func isNil(_ slot: Int) -> Bool {
        let info = runtime.slots[slot]
        if info.attribute != nil {
            if let live = values?[slot] { return live.isNull }
            if info.column >= 0, let row { return row.isNull(info.column) && !row.isUnreadable(info.column) }
            return committedAttribute(slot).isNull
        }
        if let row, info.column >= 0, !relations.isRead(info.relation) {
            return row.isNull(info.column) && !row.isUnreadable(info.column)
        }
        guard let target = toOne(slot) else { return true }
        // A relationship that was set to a deleted object is reported as such.
        return target.isDeleted && !isChanged(slot)
    }

    /// Numbers that their attributes are too narrow for, and that are none.
    private final func validateWidths(_ errors: inout [any Error]) {
        guard flags.contains(.wideInteger), let values else { return }
        let before = errors.count
        for slot in values.live {
            guard let value = values[slot] else { continue }
            if value.isNotANumber, runtime.slots[slot].column >= 0 {
                errors.append(ValidationErrors.notANumber(runtime.slots[slot].name, of: self))
                continue
            }
            guard let isTooLarge = isTooWide(value, slot) else { continue }
            let info = runtime.slots[slot]
            errors.append(
                ValidationErrors.outOfRange(
                    info.name, of: self, value: ManagedObjectValues.any(value, slot: info), isTooLarge: isTooLarge))
        }
        if errors.count == before { flags.remove(.wideInteger) }
    }

    /// Returns whether the number is too large or too small for its integer attribute; `nil` if it fits.
    private final func isTooWide(_ value: Value, _ slot: Int) -> Bool? {
        let kind = home.kinds[slot]
        guard kind.plainKind == .integer else { return nil }
        switch value {
        case .integer(let number): return kind.holds(number) ? nil : number > 0
        // NaN is neither, and is reported as NaN.
        case .double(let number): return number.isNaN ? nil : number > 0
        default: return nil
        }
    }

    private static func isNotANumber(_ value: AnyObject) -> Bool {
        switch value {
        case let number as NSDecimalNumber: number.decimalValue.isNaN
        case let number as NSNumber: number.doubleValue.isNaN
        case let date as NSDate: date.timeIntervalSinceReferenceDate.isNaN
        case let date as Date: date.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }

    private final func validateRules(_ errors: inout [any Error]) {
        for rule in runtime.validation.rules {
            fireIfNeeded(key: nil)
            let info = runtime.slots[rule.slot]
            guard info.attribute != nil else { continue }
            if info.type == .binaryData || info.type == .transformable, isUnreadable(rule.slot) { continue }
            let value = attributeValue(rule.slot)
            if value.isNull { continue }
            check(ManagedObjectValues.any(value, slot: info), rule, &errors)
        }
    }

    private final func check(_ value: Any?, _ rule: EntityValidation.Rule, _ errors: inout [any Error]) {
        let info = runtime.slots[rule.slot]
        for (predicate, warning) in rule.predicates where !predicate.evaluate(with: value) {
            errors.append(
                ValidationErrors.failed(
                    info.name, of: self, value: value, predicate: predicate, warning: warning, type: info.type))
        }
    }

    private final func validateCounts(_ errors: inout [any Error], besides told: Set<String> = []) {
        for slot in runtime.validation.counted {
            let info = runtime.slots[slot]
            // Unchanged properties were valid when they were saved.
            if told.contains(info.name) || isStored && !hasTouched(info) { continue }
            checkCount(of: knownMembers(slot).members, info, &errors)
        }
    }

    /// As ``validateForInsert()``, of an object that was saved without: how many members it has counts too.
    final func validateMade() throws {
        var errors: [any Error] = []
        do { try validateForInsert() } catch { errors.append(error) }
        for slot in runtime.validation.counted {
            let info = runtime.slots[slot]
            if isStored, !hasTouched(info) { checkCount(of: knownMembers(slot).members, info, &errors) }
        }
        if let error = CoreDataErrors.combined(errors) { throw error }
    }

    private final func checkCount(
        of members: [NSManagedObject], _ info: EntityRuntime.Slot, _ errors: inout [any Error]
    ) {
        guard let relationship = info.relationship else { return }
        let count = members.lazy.filter { !$0.isDeleted }.count
        if count == 0, info.property.isOptional { return }
        // Optional or not, only the count that the model gives is asked for: models made in code have none.
        if count < relationship.minCount {
            errors.append(ValidationErrors.tooFew(info.name, of: self, members: members.filter { !$0.isDeleted }))
        } else if relationship.maxCount > 0, count > relationship.maxCount {
            errors.append(ValidationErrors.tooMany(info.name, of: self, members: members.filter { !$0.isDeleted }))
        }
    }

    private final func hasTouched(_ info: EntityRuntime.Slot) -> Bool {
        if case .toMany(let members) = relations[info.relation] { return members.hasChanges }
        return false
    }

    /// Targets that are deleted too do not count.
    private final func validateDenying(_ errors: inout [any Error]) {
        for slot in runtime.validation.denying {
            let info = runtime.slots[slot]
            let targets = info.isToMany ? knownMembers(slot).members : toOne(slot).map { [$0] } ?? []
            if targets.contains(where: { !$0.isDeleted }) {
                errors.append(ValidationErrors.denied(info.name, of: self, members: targets.filter { !$0.isDeleted }))
            }
        }
    }

    // MARK: By key

    private final func validateByKey(_ members: ManagedMemberTable, _ errors: inout [any Error]) {
        fireIfNeeded(key: nil)
        if flags.contains(.inaccessible) { return }
        for (index, info) in runtime.slots.enumerated() where info.attribute != nil || info.relationship != nil {
            // A set is made only for a validator that needs it.
            if info.isToMany, members.validator(ofKey: info.name) == nil { continue }
            validate(index, &errors) { try validateValue($0, forKey: info.name) }
        }
    }

    private final func keys(of errors: [any Error]) -> Set<String> {
        Set(errors.compactMap { ($0 as NSError).userInfo[NSValidationKeyErrorKey] as? String })
    }

    /// Calls the methods `validate<Key>(_:)` for values that satisfy the model's rules.
    private final func validateByMember(_ members: ManagedMemberTable, _ errors: inout [any Error]) {
        fireIfNeeded(key: nil)
        if flags.contains(.inaccessible) { return }
        let failed = keys(of: errors)
        for (index, info) in runtime.slots.enumerated() where info.attribute != nil || info.relationship != nil {
            guard let validator = members.validator(ofKey: info.name), !failed.contains(info.name) else { continue }
            validate(index, &errors) { try validator(self, $0) }
        }
    }

    /// Passes a property's value to a check, and sets the value with which the check replaces it.
    private final func validate(
        _ index: Int, _ errors: inout [any Error],
        by check: (AutoreleasingUnsafeMutablePointer<AnyObject?>) throws -> Void
    ) {
        // What cannot be read is not nil.
        if isUnreadable(index) { return }
        let before = anyValue(index) as AnyObject?
        var value = before
        do {
            try withUnsafeMutablePointer(to: &value) { try check($0) }
        } catch {
            errors.append(error)
            return
        }
        if value !== before, !((value as? NSObject)?.isEqual(before) ?? false) { setAnyValue(value, index) }
    }

    /// Returns the managed objects of a collection, an empty list for nil; `nil` if the value is no such collection.
    private final func members(in value: AnyObject?) -> [NSManagedObject]? {
        switch value {
        case nil: []
        case let set as NSOrderedSet: set.array as? [NSManagedObject]
        case let set as NSSet: set.allObjects as? [NSManagedObject]
        default: value as? [NSManagedObject] ?? (value as? Set<NSManagedObject>).map(Array.init)
        }
    }

    /// Runs the model's checks of a value that is not nil.
    final func validate(_ value: Value, ofElement slot: Int, _ errors: inout [any Error]) {
        let info = runtime.slots[slot]
        if value.isNotANumber {
            errors.append(ValidationErrors.notANumber(info.name, of: self))
            return
        }
        if let isTooLarge = isTooWide(value, slot) {
            errors.append(
                ValidationErrors.outOfRange(
                    info.name, of: self, value: ManagedObjectValues.any(value, slot: info), isTooLarge: isTooLarge))
        }
        if let rule = runtime.validation.rules.first(where: { $0.slot == slot }) {
            check(ManagedObjectValues.any(value, slot: info), rule, &errors)
        }
        checkTransformer(of: value, slot, &errors)
    }

    /// The model's checks of one value.
    final func validateModeled(
        _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
    ) throws {
        guard let slot = runtime.slot(forKey: key) else { return }
        let info = runtime.slots[slot]
        var errors: [any Error] = []
        let present = value.pointee.flatMap { $0 is NSNull ? nil : $0 }
        if info.isToMany {
            // Setting anything else than managed objects stops the program already.
            if runtime.validation.counted.contains(slot), let members = members(in: present) {
                checkCount(of: members, info, &errors)
            }
        } else if present == nil {
            if runtime.validation.mandatory.contains(slot), isAskedFor(slot) {
                errors.append(ValidationErrors.missing(key, of: self))
            }
        } else if info.kind == .composite {
            validateElements(of: present, slot, &errors)
        } else if info.attribute != nil {
            // The rules do not apply to NaN.
            if info.column >= 0, let present, Self.isNotANumber(present) {
                throw ValidationErrors.notANumber(key, of: self)
            }
            if let number = present as? NSNumber,
                let isTooLarge = ManagedObjectValues.plain(number, info.kind).flatMap({ isTooWide($0, slot) })
            {
                errors.append(
                    ValidationErrors.outOfRange(key, of: self, value: present, isTooLarge: isTooLarge))
            }
            if let rule = runtime.validation.rules.first(where: { $0.slot == slot }) { check(present, rule, &errors) }
            if info.type == .transformable, let present {
                checkTransformer(of: .opaque(Transformation.box(present)), slot, &errors)
            }
        }
        if let error = CoreDataErrors.combined(errors) { throw error }
    }
}

extension Value {
    /// Whether it is a number that is none: no column keeps it.
    var isNotANumber: Bool {
        switch self {
        case .double(let number), .date(let number): number.isNaN
        case .decimal(let number): number.isNaN
        default: false
        }
    }
}
