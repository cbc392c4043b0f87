import CoreData
import Foundation
import Testing

/// O7: tokens are values that outlive the process.
@Suite struct HistoryTokenTests {
    @Test func aTokenIsArchivedSecurely() throws {
        let stack = try HistoryStack()
        try stack.add("A")
        let token = try #require(stack.token)
        let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data))
        #expect(read == token && read.hash == token.hash)
        #expect(NSPersistentHistoryToken.supportsSecureCoding)
        try stack.add("B")
        #expect(try stack.transactions(.fetchHistory(after: read)).count == 1)
        #expect(read != stack.token)
    }

    @Test func aTokenIsItsOwnCopy() throws {
        let stack = try HistoryStack()
        let token = try #require(stack.token)
        #expect(token.copy() as? NSPersistentHistoryToken == token)
        #expect(token.description.contains("\(try #require(stack.store.identifier)): 0"))
    }

    @Test(arguments: ["nonsense", "a b c", "a -1", "a 99999999999999999999"])
    func whatIsNoTokenIsNotRead(text: String) throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(text as NSString, forKey: "positions")
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        #expect(NSPersistentHistoryToken(coder: unarchiver) == nil)
    }
}
