import assert from "node:assert/strict";
import test from "node:test";
import { CallOrder, FrameReader, ProtocolError, VarlinkError, encodeCall, frameBytesMax } from "../varlink.js";

const bytes = text => new TextEncoder().encode(text);

test("messages are whole wherever their bytes are cut", () => {
    const stream = bytes('{"a":"ü\\u0000"}\0{"b":[1,2]}\0{"c":"日本"}\0');
    for (let cut = 0; cut <= stream.length; cut++) {
        const reader = new FrameReader();
        const messages = [
            ...reader.push(stream.subarray(0, cut)), ...reader.push(stream.subarray(cut)),
        ];
        assert.deepEqual(messages, [{ a: "ü\0" }, { b: [1, 2] }, { c: "日本" }]);
    }
    const reader = new FrameReader();
    const messages = [...stream].flatMap(byte => reader.push(Uint8Array.of(byte)));
    assert.equal(messages.length, 3);
});

test("a piece may be overwritten once it was given", () => {
    const reader = new FrameReader();
    const piece = bytes('{"a":');
    reader.push(piece);
    piece.fill(0);
    assert.deepEqual(reader.push(bytes("1}\0")), [{ a: 1 }]);
});

test("what is no Varlink is refused", () => {
    for (const text of ["no\0", "[]\0", "null\0", "3\0", "\0", '{"a":1\0']) {
        assert.throws(() => new FrameReader().push(bytes(text)), ProtocolError, text);
    }
    assert.throws(() => new FrameReader().push(Uint8Array.of(0xff, 0)), ProtocolError);
    assert.throws(() => new FrameReader().push(new Uint8Array(frameBytesMax + 1).fill(32)), ProtocolError);
});

test("a call is an object and a NUL", () => {
    assert.equal(new TextDecoder().decode(encodeCall("a.B", { c: "\0" }, true)),
        '{"method":"a.B","parameters":{"c":"\\u0000"},"more":true}\0');
    assert.equal(new TextDecoder().decode(encodeCall("a.B", {})), '{"method":"a.B","parameters":{}}\0');
});

function recorder(name, log) {
    return {
        onReply: parameters => log.push([name, parameters]), onEnd: () => log.push([name, "end"]),
        onError: error => log.push([name, error]),
    };
}

test("replies belong to the calls in their order", () => {
    const log = [];
    const order = new CallOrder();
    order.add(recorder("stream", log));
    order.add(recorder("call", log));
    order.receive({ parameters: { n: 1 }, continues: true });
    order.receive({ parameters: { n: 2 } });
    order.receive({ error: "org.bgtaskd.Tasks.NoSuchTask", parameters: { id: 7 } });
    assert.deepEqual(log.slice(0, 3), [["stream", { n: 1 }], ["stream", { n: 2 }], ["stream", "end"]]);
    assert.ok(log[3][1] instanceof VarlinkError);
    assert.deepEqual(log[3][1].parameters, { id: 7 });
    assert.ok(order.isEmpty);
    assert.throws(() => order.receive({}), ProtocolError);
});

test("all that wait hear that the connection is gone, once", () => {
    const log = [];
    const order = new CallOrder();
    order.add(recorder("one", log));
    order.add(recorder("two", log));
    order.fail("gone");
    order.fail("gone");
    assert.deepEqual(log, [["one", "gone"], ["two", "gone"]]);
});
