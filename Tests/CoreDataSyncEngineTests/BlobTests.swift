import Foundation
import Testing

@testable import CoreDataSyncEngine

@Suite struct BlobTests {
    @Test func largeValuesAreFilesOfTheirOwn() {
        let large = Data(repeating: 7, count: Blob.threshold + 1)
        #expect(Blob.bytes(of: .data(large)) == large)
        #expect(Blob.bytes(of: .data(large.dropLast())) == nil)
        // The threshold is for bytes, not for characters.
        #expect(Blob.bytes(of: .string(String(repeating: "é", count: 8_193)))?.count == 16_386)
        #expect(Blob.bytes(of: .string(String(repeating: "é", count: 8_192))) == nil)
        #expect(Blob.bytes(of: .null) == nil)
        #expect(Blob.reference(to: large) == .blob(digest: Blob.digest(of: large), size: Blob.threshold + 1))
        #expect(
            Blob.name(of: Data()).description == "blob-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
        #expect(
            Blob.isIntact(large, Blob.digest(of: large)) && !Blob.isIntact(large.dropLast(), Blob.digest(of: large)))
    }
}
