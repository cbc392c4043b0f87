import CoreData
import Foundation
import Testing

/// What plugins write for a class's own properties and validation methods, as key-value coding and saving use it.
@Suite struct ManagedMembersTests {
    private func stack() throws -> LibraryStack {
        let model = Library.model()
        model.entitiesByName["Tag"]?.managedObjectClassName = "CoreDataTests.SpokenTag"
        return try LibraryStack(model: model)
    }

    @Test("G1: save calls validate<Key>(_:), an inherited one too, and saves what it puts in a value's place")
    func savingCallsValidators() throws {
        let stack = try stack()
        try stack.story { context in
            let tag = SpokenTag(context: context)
            tag.setValue("forbidden", forKey: "name")
            #expect(throws: SpokenTag.Refusal.self) { try context.save() }
            tag.setValue(" spaced ", forKey: "name")
            try context.save()
            #expect(tag.value(forKey: "name") as? String == "spaced")
            context.reset()
            #expect(try context.all(SpokenTag.self, "Tag", "name == 'spaced'").count == 1)
        }
    }

    @Test("G6: validateValue(_:forKey:) calls validate<Key>(_:) after the model's rules")
    func validateValueCallsValidators() throws {
        let stack = try stack()
        try stack.story { context in
            let tag = SpokenTag(context: context)
            var value: AnyObject? = " spaced " as NSString
            try tag.validateValue(&value, forKey: "name")
            #expect(value as? String == "spaced")
            value = "forbidden" as NSString
            #expect(throws: SpokenTag.Refusal.self) { try tag.validateValue(&value, forKey: "name") }
        }
    }

    @Test("G2: what the model and a method refuse is told in one error")
    func problemsOfModelAndMethod() throws {
        let stack = try stack()
        stack.story { context in
            SpokenTag(context: context).setValue("forbidden", forKey: "name")
            Book(context: context).title = nil
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .validationMultipleErrors)
            #expect((error?.userInfo[NSDetailedErrorsKey] as? [any Error])?.count == 2)
        }
    }

    @Test("a to-many relationship has a validation method, too")
    func validatorOfToMany() throws {
        let stack = try stack()
        stack.story { context in
            let tag = SpokenTag(context: context)
            tag.setValue("full", forKey: "name")
            let books = (1...3).map { _ in Book(context: context) }
            for book in books { book.title = "Any" }
            tag.setValue(NSSet(array: books), forKey: "books")
            #expect(throws: SpokenTag.Refusal.self) { try context.save() }
        }
    }

    @Test("C1: keys find the class's own properties, with the prefixes that getters have")
    func valuesOfOwnProperties() throws {
        let stack = try stack()
        stack.story { context in
            let tag = SpokenTag(context: context)
            tag.setValue("word", forKey: "name")
            #expect(tag.value(forKey: "spoken") as? String == "WORD")
            #expect(tag.value(forKey: "length") as? NSNumber == 4)
            #expect(tag.value(forKey: "isLong") as? Bool == false)
            #expect(tag.value(forKey: "long") as? Bool == false)
            #expect(tag.value(forKey: "nickname") == nil)
            #expect(tag.value(forKeyPath: "books.@count") as? Int == 0)
            #expect(([tag] as NSArray).value(forKey: "spoken") as? [String] == ["WORD"])
            #expect(tag.dictionaryWithValues(forKeys: ["spoken"])["spoken"] as? String == "WORD")
            let sorted = ([tag] as NSArray).sortedArray(using: [NSSortDescriptor(key: "spoken", ascending: true)])
            #expect(sorted.count == 1)
        }
    }

    @Test func keysSetOwnProperties() throws {
        let stack = try stack()
        stack.story { context in
            let tag = SpokenTag(context: context)
            tag.setValue("Joe", forKey: "nickname")
            tag.setValue(NSNumber(value: 7), forKey: "count")
            #expect(tag.nickname == "Joe" && tag.count == 7)
            tag.setValue(nil, forKey: "nickname")
            tag.setValue(nil, forKey: "count")
            #expect(tag.nickname == nil && tag.count == 0)
            tag.setValuesForKeys(["nickname": "Jim"])
            #expect(tag.nickname == "Jim")
        }
    }

    @Test func predicatesInMemoryAskOwnProperties() throws {
        let stack = try stack()
        stack.story { context in
            let tag = SpokenTag(context: context)
            tag.setValue("word", forKey: "name")
            #expect(NSPredicate(format: "spoken == 'WORD' AND length == 4 AND isLong == NO").evaluate(with: tag))
            #expect(!NSPredicate(format: "length > 4").evaluate(with: tag))
        }
    }
}

class SpeakingObject: NSManagedObject {
    struct Refusal: Error {}

    var nickname: String?
    var count = 0
    var isLong: Bool { length > 9 }
    var length: Int { (value(forKey: "name") as? String)?.count ?? 0 }

    func validateName(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        guard let text = value.pointee as? String else { return }
        if text == "forbidden" { throw Refusal() }
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        if trimmed != text { value.pointee = trimmed as NSString }
    }
}

final class SpokenTag: SpeakingObject {
    var spoken: String { (value(forKey: "name") as? String ?? "").uppercased() }

    func validateBooks(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        if let books = value.pointee as? NSSet, books.count > 2 { throw Refusal() }
    }
}

extension SpeakingObject {
    fileprivate static func nickname(_ object: SpeakingObject) -> Any? { ManagedMemberList.value(object.nickname) }
    fileprivate static func setNickname(_ object: SpeakingObject, _ value: Any?) {
        ManagedMemberList.set(value, forKey: "nickname", of: object) { object.nickname = $0 }
    }
    fileprivate static func count(_ object: SpeakingObject) -> Any? { ManagedMemberList.value(object.count) }
    fileprivate static func setCount(_ object: SpeakingObject, _ value: Any?) {
        ManagedMemberList.set(value, forKey: "count", of: object) { object.count = $0 }
    }
    fileprivate static func isLong(_ object: SpeakingObject) -> Any? { ManagedMemberList.value(object.isLong) }
    fileprivate static func length(_ object: SpeakingObject) -> Any? { ManagedMemberList.value(object.length) }
    fileprivate static func validateName(
        _ object: SpeakingObject, _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>
    ) throws { try object.validateName(value) }
}

extension SpokenTag {
    fileprivate static func spoken(_ object: SpokenTag) -> Any? { ManagedMemberList.value(object.spoken) }
    fileprivate static func validateBooks(
        _ object: SpokenTag, _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>
    ) throws { try object.validateBooks(value) }
}

final class _SpeakingObjectMembers: ManagedMembers {
    override class var managedClass: NSManagedObject.Type { SpeakingObject.self }
    override class func list(in members: inout ManagedMemberList) {
        members.addProperty("nickname", get: SpeakingObject.nickname, set: SpeakingObject.setNickname)
        members.addProperty("count", get: SpeakingObject.count, set: SpeakingObject.setCount)
        members.addProperty("isLong", get: SpeakingObject.isLong)
        members.addProperty("length", get: SpeakingObject.length)
        members.addValidator(ofKey: "Name", SpeakingObject.validateName)
    }
}

final class _SpokenTagMembers: ManagedMembers {
    override class var managedClass: NSManagedObject.Type { SpokenTag.self }
    override class func list(in members: inout ManagedMemberList) {
        members.addProperty("spoken", get: SpokenTag.spoken)
        members.addValidator(ofKey: "Books", SpokenTag.validateBooks)
    }
}
