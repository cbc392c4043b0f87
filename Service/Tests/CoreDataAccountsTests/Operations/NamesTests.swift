import Foundation
import Testing

@testable import CoreDataAccounts

@Suite struct NamesTests {
    @Test(arguments: [
        ("ann", "ann"), ("  Ann ", "ann"), ("Jürgen", "jürgen"), ("Ju\u{308}rgen", "jürgen"), ("ＡＮＮ", "ann"),
        ("user.name-1_x", "user.name-1_x"), ("渡辺", "渡辺"), ("4711", "4711"),
    ]) func namesAreComparedWithoutCase(_ name: String, _ key: String) throws {
        #expect(AccountName.key(try AccountName.checked(name)) == key)
    }

    @Test(arguments: [
        "", "a", "   ", "ann lee", "ann@example.com", "ann/lee", "-ann", ".ann", "ann\u{0}", "ann\n", "ann\u{200B}lee",
        "<b>ann</b>", String(repeating: "a", count: 41), String(repeating: "a", count: 50_000), "🚲🚲🚲",
    ]) func otherNamesAreRefused(_ name: String) {
        #expect { try AccountName.checked(name) } throws: { ($0 as? AccountError)?.code == "invalidName" }
    }

    @Test(arguments: [
        ("ann@example.com", "ann@example.com"), (" Ann@Example.COM ", "ann@example.com"),
        ("ann+list@mail.example.com", "ann+list@mail.example.com"), ("jörg@bücher.example", "jörg@bücher.example"),
    ]) func addressesAreInLowerCase(_ address: String, _ stored: String) throws {
        #expect(try EmailAddress.checked(address) == stored)
    }

    @Test(arguments: [
        "", "ann", "@", "ann@", "@example.com", "ann@example", "a@b@example.com", "ann@example.com\r\nBcc: x@y.z",
        "ann lee@example.com", "ann@-example.com", "ann@example..com", "<ann@example.com>", "ann@exa\u{202E}mple.com",
        String(repeating: "a", count: 65) + "@example.com", "ann@" + String(repeating: "a.", count: 200) + "com",
    ]) func otherAddressesAreRefused(_ address: String) {
        #expect(throws: AccountError.invalidEmail) { try EmailAddress.checked(address) }
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1"),
        ("2001:DB8::1", "2001:db8::1", "2001:db8::/64"),
        ("2001:db8:0:0:ffff:ffff:ffff:ffff", "2001:db8::ffff:ffff:ffff:ffff", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::1", "2001:db8:0:1::/64"), ("fe80::1%eth0", "fe80::1", "fe80::/64"),
        ("[::1]", "::1", "::/64"),
    ]) func addressesOfOneNetworkCountAsOne(_ text: String, _ shown: String, _ network: String) throws {
        let address = try #require(NetworkAddress(text))
        #expect(address.text == shown)
        #expect(address.network == network)
    }

    @Test(arguments: [
        "", "example.com", "1.2.3", "1.2.3.4.5", "2001:db8::g", "192.0.2.1\n", String(repeating: ":", count: 999),
    ])
    func otherTextsAreNoAddresses(_ text: String) { #expect(NetworkAddress(text) == nil) }

    @Test func namesOfDevicesAreCut() {
        #expect(Client(address: nil, device: " Ann's\u{0} pho\u{202E}ne\n").shownDevice == "Ann's phone")
        #expect(Client(address: nil, device: String(repeating: "x", count: 50_000)).shownDevice.count == 100)
        #expect(Client(address: "not an address").shownAddress == nil)
    }
}
